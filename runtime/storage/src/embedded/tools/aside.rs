//! Results while they are made: under another name beside their target, and renamed once complete. Nothing is overwritten.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use super::Error;

/// An unfinished file or directory; removed unless it is published or resumable.
pub(super) struct Aside {
    aside: PathBuf,
    target: PathBuf,
    kept: bool,
}

impl Aside {
    /// A file (0600) for a name that must be free.
    pub(super) fn file(target: &Path) -> Result<(Self, File), Error> {
        match fs::symlink_metadata(target) {
            Ok(_) => return Err(Error::Exists { path: target.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::file(target)(error)),
        }
        let this = Self::beside(target)?;
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&this.aside);
        let file = file.map_err(Error::file(&this.aside))?;
        Ok((this, file))
    }

    /// A directory (0700) for a name that must be free, or be an empty directory.
    pub(super) fn directory(target: &Path) -> Result<Self, Error> {
        refuse_taken(target)?;
        let this = Self::beside(target)?;
        DirBuilder::new().mode(0o700).create(&this.aside).map_err(Error::file(&this.aside))?;
        Ok(this)
    }

    /// A directory (0700) that a later process finds again if this one ends early.
    pub(super) fn resumable(target: &Path) -> Result<Self, Error> {
        let mut this = Self::named(target, ".copy")?;
        this.kept = true;
        Ok(this)
    }

    fn beside(target: &Path) -> Result<Self, Error> {
        let mut random = [0; 4];
        getrandom::fill(&mut random).expect("the operating system has random bytes");
        Self::named(target, &format!(".{:08x}.new", u32::from_le_bytes(random)))
    }

    fn named(target: &Path, ending: &str) -> Result<Self, Error> {
        let name = target.file_name().ok_or_else(|| Error::file(target)(io::ErrorKind::InvalidFilename.into()))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(ending);
        Ok(Self { aside: target.with_file_name(hidden), target: target.to_owned(), kept: false })
    }

    /// The temporary path.
    pub(super) fn path(&self) -> &Path {
        &self.aside
    }

    /// Gives the file its final name. Its content must be durable already.
    pub(super) fn publish_file(mut self) -> Result<(), Error> {
        // A link fails if the name exists, even if it appeared a moment ago; a rename would overwrite.
        match fs::hard_link(&self.aside, &self.target) {
            Ok(()) => {
                fs::remove_file(&self.aside).map_err(Error::file(&self.aside))?;
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Error::Exists { path: self.target.clone() });
            }
            // The file system has no hard links.
            Err(_) if fs::symlink_metadata(&self.target).is_err() => {
                fs::rename(&self.aside, &self.target).map_err(Error::file(&self.target))?;
            }
            Err(error) => return Err(Error::file(&self.target)(error)),
        }
        self.kept = true;
        self.sync_parent()
    }

    /// Gives the directory its final name. Its content must be durable already.
    pub(super) fn publish_directory(mut self) -> Result<(), Error> {
        sync_directory(&self.aside)?;
        // Replaces an empty directory, and fails for anything else.
        fs::rename(&self.aside, &self.target).map_err(|error| match error.kind() {
            io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
                Error::Exists { path: self.target.clone() }
            }
            _ => Error::file(&self.target)(error),
        })?;
        self.kept = true;
        self.sync_parent()
    }

    fn sync_parent(&self) -> Result<(), Error> {
        match self.target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => sync_directory(parent),
            _ => sync_directory(Path::new(".")),
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if !self.kept {
            // Only one of the two exists. Leftovers of a failed attempt do no harm.
            let _ = fs::remove_file(&self.aside);
            let _ = fs::remove_dir_all(&self.aside);
        }
    }
}

/// Refuses a target directory that already has content.
pub(super) fn refuse_taken(target: &Path) -> Result<(), Error> {
    match fs::read_dir(target).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() != io::ErrorKind::NotADirectory => Err(Error::file(target)(error)),
        _ => Err(Error::Exists { path: target.to_owned() }),
    }
}

fn sync_directory(path: &Path) -> Result<(), Error> {
    File::open(path).and_then(|dir| dir.sync_all()).map_err(Error::file(path))
}
