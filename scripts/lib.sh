# Shared by the scripts: what they need, and how they speak.

say() { echo "== $*" >&2; }

# need PROGRAM ADVICE: ends with one sentence when a program is missing.
need() {
  command -v "$1" >/dev/null || { echo "$(basename "$0"): $1 is missing: $2" >&2; exit 1; }
}

# The toolchain of rust-toolchain.toml and its wasm targets.
install_targets() {
  local target
  for target in wasm32-wasip1 wasm32-unknown-unknown; do
    rustup target list --installed | grep -qx "$target" || rustup --quiet target add "$target" || return
  done
}
