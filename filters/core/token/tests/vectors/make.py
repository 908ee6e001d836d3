"""Makes keys.json and tokens.tsv with the Python package `cryptography`; see README.md."""

import base64
import hashlib
import hmac
import json

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

NOW = 1_800_000_000
SECRET = b"a secret for tests of 44 bytes, known to all"
CLAIMS = {
    "iss": "https://issuer.example",
    "aud": "dragoman",
    "sub": "robot",
    "iat": NOW - 600,
    "nbf": NOW - 600,
    "exp": NOW + 600,
    "tenant_id": "team-a",
    "app_id": "chatbot",
    "scope": "chat models",
    "models": ["chat-*"],
}


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value, size):
    return b64(value.to_bytes(size, "big"))


rsa2048 = rsa.generate_private_key(65537, 2048)
rsa4096 = rsa.generate_private_key(65537, 4096)
p256 = ec.generate_private_key(ec.SECP256R1())
other_p256 = ec.generate_private_key(ec.SECP256R1())
p384 = ec.generate_private_key(ec.SECP384R1())
edwards = ed25519.Ed25519PrivateKey.generate()
pem = rsa2048.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
)


def rsa_jwk(key, kid):
    public = key.public_key().public_numbers()
    return {"kty": "RSA", "kid": kid, "n": number(public.n, key.key_size // 8), "e": "AQAB"}


def ec_jwk(key, kid, curve, size):
    public = key.public_key().public_numbers()
    return {"kty": "EC", "kid": kid, "crv": curve, "x": number(public.x, size), "y": number(public.y, size)}


def hs256(data, secret=SECRET):
    return hmac.new(secret, data, hashlib.sha256).digest()


def rs256(data, key=rsa2048):
    return key.sign(data, padding.PKCS1v15(), hashes.SHA256())


def ps256(data):
    pss = padding.PSS(mgf=padding.MGF1(hashes.SHA256()), salt_length=32)
    return rsa2048.sign(data, pss, hashes.SHA256())


def es256(data, key=p256, size=32):
    r, s = decode_dss_signature(key.sign(data, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(size, "big") + s.to_bytes(size, "big")


def token(sign, alg, kid=None, claims=CLAIMS, **header):
    header = {"alg": alg, **({"kid": kid} if kid else {}), **header}
    signed = ".".join(b64(json.dumps(part, separators=(",", ":")).encode()) for part in (header, claims))
    return signed + "." + b64(sign(signed.encode()))


keys = {
    "keys": [
        rsa_jwk(rsa2048, "rsa-2048") | {"use": "sig", "alg": "RS256"},
        rsa_jwk(rsa4096, "rsa-4096"),
        ec_jwk(p256, "p256", "P-256", 32) | {"key_ops": ["verify"]},
        {"kty": "OKP", "kid": "ed25519", "crv": "Ed25519", "x": b64(edwards.public_key().public_bytes_raw())},
        ec_jwk(p384, "p384", "P-384", 48),
        rsa_jwk(rsa2048, "for-encryption") | {"use": "enc"},
        rsa_jwk(rsa2048, "for-pss") | {"alg": "PS256"},
        {"kty": "PQK", "kid": "of-another-time"},
    ]
}

tokens = [
    ("admitted", "HS256 by its secret", token(hs256, "HS256", "shared", typ="JWT")),
    ("admitted", "HS256 without a key id", token(hs256, "HS256")),
    ("admitted", "RS256 with 2048 bits", token(rs256, "RS256", "rsa-2048")),
    ("admitted", "RS256 with 4096 bits", token(lambda data: rs256(data, rsa4096), "RS256", "rsa-4096")),
    ("admitted", "ES256", token(es256, "ES256", "p256")),
    ("admitted", "ES256 without a key id", token(es256, "ES256")),
    ("admitted", "EdDSA", token(edwards.sign, "EdDSA", "ed25519", typ="at+jwt")),
    ("admitted", "EdDSA by its newer name", token(edwards.sign, "Ed25519", "ed25519")),
    ("unnamed_key", "RS256 without a key id, where two keys fit", token(rs256, "RS256")),
    ("unknown_key", "a key id that nobody has", token(rs256, "RS256", "rsa-1024")),
    ("unknown_key", "a key for encryption", token(rs256, "RS256", "for-encryption")),
    ("unknown_key", "a key for another padding", token(rs256, "RS256", "for-pss")),
    ("algorithm", "no signature at all", token(lambda data: b"", "none")),
    ("algorithm", "no signature at all under a key id", token(lambda data: b"", "none", "rsa-2048")),
    ("algorithm", "the public key as the secret of an HMAC", token(lambda data: hs256(data, pem), "HS256", "rsa-2048")),
    ("signature", "the public key as the secret of an HMAC, no key id", token(lambda data: hs256(data, pem), "HS256")),
    ("signature", "an empty secret", token(lambda data: hs256(data, b""), "HS256", "shared")),
    ("signature", "the signature of another key of the same kind", token(lambda data: es256(data, other_p256), "ES256", "p256")),
    ("signature", "an RSA key's signature under another RSA key's id", token(rs256, "RS256", "rsa-4096")),
    ("algorithm", "an RSA signature under the id of a curve's key", token(rs256, "RS256", "p256")),
    ("algorithm", "a curve's signature under the id of an RSA key", token(es256, "ES256", "rsa-2048")),
    ("algorithm", "RSASSA-PSS", token(ps256, "PS256", "rsa-2048")),
    ("signature", "RSASSA-PSS called RS256", token(ps256, "RS256", "rsa-2048")),
    ("signature", "RS256 over SHA-512", token(lambda data: rsa2048.sign(data, padding.PKCS1v15(), hashes.SHA512()), "RS256", "rsa-2048")),
    ("signature", "an ECDSA signature in DER", token(lambda data: p256.sign(data, ec.ECDSA(hashes.SHA256())), "ES256", "p256")),
    ("signature", "an ECDSA signature of zeros", token(lambda data: bytes(64), "ES256", "p256")),
    ("signature", "an Ed25519 signature of zeros", token(lambda data: bytes(64), "EdDSA", "ed25519")),
    ("signature", "an RSA signature of zeros", token(lambda data: bytes(256), "RS256", "rsa-2048")),
    ("signature", "an RSA signature with a zero in front", token(lambda data: b"\0" + rs256(data), "RS256", "rsa-2048")),
    ("signature", "half an HMAC", token(lambda data: hs256(data)[:16], "HS256", "shared")),
    ("algorithm", "P-384", token(lambda data: es256(data, p384, 48), "ES384", "p384")),
    ("signature", "a key in the header", token(
        lambda data: es256(data, other_p256), "ES256", "p256", jwk=ec_jwk(other_p256, "p256", "P-256", 32))),
    ("critical", "an extension that must be understood", token(hs256, "HS256", "shared", crit=["exp"])),
    ("type", "a logout token", token(hs256, "HS256", "shared", typ="logout+jwt")),
]

with open("keys.json", "w") as out:
    json.dump(keys, out, indent=1)
    out.write("\n")
with open("tokens.tsv", "w") as out:
    for row in tokens:
        out.write("\t".join(row) + "\n")
