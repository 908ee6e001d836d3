//! Notices that files have changed.
//!
//! By looking, not by the system's notifications: editors and build tools replace, truncate or
//! rename files in ways of their own, and folders may be mounts that notify nobody. A look at a
//! dozen files is a dozen calls of `stat`.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Between two looks. A change is taken up after two equal ones, so within a second.
pub const INTERVAL: Duration = Duration::from_millis(500);

/// Inode, size, seconds and nanoseconds of the last change; `None`: the file is not there.
type Stamp = Option<(u64, u64, i64, i64)>;

/// The files of a configuration as they were when it was taken up.
#[derive(Debug, Default)]
pub struct Watch {
    taken: BTreeMap<PathBuf, Stamp>,
    seen: BTreeMap<PathBuf, Stamp>,
}

impl Watch {
    /// These files are taken up as they are now.
    pub fn take(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        self.taken = look(paths);
        self.seen.clone_from(&self.taken);
    }

    /// These files count from now on: those that are new as they are now, the others as they were
    /// when they were taken up.
    pub fn keep(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        let mut kept = look(paths);
        for (path, stamp) in &mut kept {
            if let Some(known) = self.taken.get(path) {
                stamp.clone_from(known);
            }
        }
        self.taken = kept;
        self.seen = look(self.taken.keys().cloned());
    }

    /// Looks at the files. Those that have changed since they were taken up, once they look the same
    /// twice: half-written files are waited for.
    pub fn changed(&mut self) -> Vec<PathBuf> {
        let now = look(self.taken.keys().cloned());
        let settled = now == self.seen;
        let changed = |(path, stamp): (&PathBuf, &Stamp)| {
            (self.taken.get(path) != Some(stamp)).then(|| path.clone())
        };
        let changed = if settled {
            now.iter().filter_map(changed).collect()
        } else {
            Vec::new()
        };
        self.seen = now;
        changed
    }
}

fn look(paths: impl IntoIterator<Item = PathBuf>) -> BTreeMap<PathBuf, Stamp> {
    let stamp = |path: &Path| {
        let file = std::fs::metadata(path).ok()?;
        Some((file.ino(), file.size(), file.mtime(), file.mtime_nsec()))
    };
    paths
        .into_iter()
        .map(|path| (path.clone(), stamp(&path)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_changed_once_it_looks_the_same_twice() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, "1").unwrap();
        let mut watch = Watch::default();
        watch.take([path.clone()]);
        assert!(watch.changed().is_empty());

        std::fs::write(&path, "12").unwrap();
        assert!(watch.changed().is_empty());
        std::fs::write(&path, "123").unwrap();
        assert!(watch.changed().is_empty());
        assert_eq!(watch.changed(), std::slice::from_ref(&path));

        watch.take([path.clone()]);
        assert!(watch.changed().is_empty());
        std::fs::remove_file(&path).unwrap();
        watch.changed();
        assert_eq!(watch.changed(), [path]);
    }
}
