//! Whose record it is.

/// Most bytes of a tenant's id: its length is one byte of the layout, and the configuration accepts
/// no more than half of this.
pub const MAX_TENANT_BYTES: usize = 128;

/// Whose record it is: two records are the same only if tenant and digest both are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key<'a> {
    tenant: &'a str,
    sha256: [u8; 32],
}

impl<'a> Key<'a> {
    /// The record with this digest of a tenant; `None` for a tenant's id of more than
    /// [`MAX_TENANT_BYTES`]. What goes into the digest is the caller's: parts of it need lengths
    /// or separators that cannot occur in them, or two keys could become one.
    #[must_use]
    pub fn new(tenant: &'a str, sha256: [u8; 32]) -> Option<Self> {
        (tenant.len() <= MAX_TENANT_BYTES).then_some(Self { tenant, sha256 })
    }

    /// Id of the tenant, to whose share the record counts.
    #[must_use]
    pub fn tenant(&self) -> &'a str {
        self.tenant
    }

    /// SHA-256 of what else tells the record apart.
    #[must_use]
    pub fn sha256(&self) -> &[u8; 32] {
        &self.sha256
    }
}
