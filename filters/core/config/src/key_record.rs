//! A polled key as bytes, as it is kept in shared data. The digest is kept beside it.

use dragoman_contract::Class;
use dragoman_contract::scopes::{PathScope, Scope, Scopes};
use dragoman_contract::wire::{Reader, Writer};

use crate::grant::Grant;
use crate::key::ApiKey;
use crate::key_page::PolledKey;

impl PolledKey {
    /// The record, without the digest.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let (key, grant) = (&self.key, &self.key.grant);
        let mut out = Writer::new();
        out.u8(u8::from(self.revoked));
        out.str(&key.id).str(&grant.tenant).str(&grant.app);
        out.option_u32(key.generation);
        for instant in [key.not_before, key.expires_at] {
            out.u8(u8::from(instant.is_some()))
                .u64(instant.unwrap_or(0));
        }
        write_scopes(&mut out, &grant.scopes);
        out.u8(grant.class as u8);
        for list in [&grant.models, &grant.limits] {
            out.option_list(list.as_deref());
        }
        out.finish()
    }

    /// The record in these bytes, if they are one.
    #[must_use]
    pub fn decode(sha256: [u8; 32], bytes: &[u8]) -> Option<Self> {
        let mut input = Reader::new(bytes)?;
        let revoked = flag(&mut input)?;
        let (id, tenant, app) = (input.str()?, input.str()?, input.str()?);
        let generation = input.option_u32()?;
        let (not_before, expires_at) = (instant(&mut input)?, instant(&mut input)?);
        let scopes = read_scopes(&mut input)?;
        let class = Class::from_wire(input.u8()?)?;
        let (models, limits) = (owned(input.option_list()?), owned(input.option_list()?));
        input.end()?;
        let grant = Grant {
            tenant: tenant.to_owned(),
            app: app.to_owned(),
            scopes,
            models,
            class,
            limits,
        };
        let key = ApiKey {
            id: id.to_owned(),
            sha256,
            generation,
            not_before,
            expires_at,
            grant,
        };
        Some(Self { key, revoked })
    }
}

fn owned(list: Option<Vec<&str>>) -> Option<Vec<String>> {
    list.map(|list| list.into_iter().map(str::to_owned).collect())
}

fn flag(input: &mut Reader<'_>) -> Option<bool> {
    match input.u8()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

fn instant(input: &mut Reader<'_>) -> Option<Option<u64>> {
    let given = flag(input)?;
    let seconds = input.u64()?;
    Some(given.then_some(seconds))
}

/// A bit for each kind, then the paths. No method is an empty one.
fn write_scopes(out: &mut Writer, scopes: &Scopes) {
    let bits = scopes.kinds().fold(0_u16, |bits, kind| bits | bit(kind));
    out.u16(bits);
    out.u8(u8::try_from(scopes.paths().len()).unwrap_or(0));
    for path in scopes.paths() {
        out.str(path.method.as_deref().unwrap_or_default());
        out.str(&path.path);
    }
}

fn read_scopes(input: &mut Reader<'_>) -> Option<Scopes> {
    let bits = input.u16()?;
    let kinds = Scope::ALL.iter().copied();
    let kinds = kinds.filter(|kind| bits & bit(*kind) != 0);
    let mut scopes = kinds.fold(Scopes::none(), Scopes::with);
    for _ in 0..input.u8()? {
        let (method, path) = (input.str()?, input.str()?);
        scopes = scopes.with_path(PathScope {
            method: (!method.is_empty()).then(|| method.to_owned()),
            path: path.to_owned(),
        });
    }
    Some(scopes)
}

const fn bit(kind: Scope) -> u16 {
    1 << kind as u8
}
