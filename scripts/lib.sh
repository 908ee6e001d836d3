# Shared by the scripts: what they need, and how they speak.

say() { echo "== $*" >&2; }

# need PROGRAM ADVICE: ends with one sentence when a program is missing.
need() {
  command -v "$1" >/dev/null || { echo "$(basename "$0"): $1 is missing: $2" >&2; exit 1; }
}

# The toolchain of rust-toolchain.toml and its wasm target.
install_target() {
  rustup target list --installed | grep -qx wasm32-wasip1 || rustup --quiet target add wasm32-wasip1
}
