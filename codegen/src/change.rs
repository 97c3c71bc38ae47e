//! Files that a command writes. All of them are known before the first is written, and nothing is overwritten unless that was
//! asked for. This is the only place that writes to a project.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// What to do with the files.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct How {
    /// Print what would be written, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Replace files that exist.
    #[arg(long)]
    pub overwrite: bool,
}

/// Files to write below a folder.
pub(crate) struct Changes {
    root: PathBuf,
    files: Vec<File>,
}

struct File {
    path: PathBuf,
    /// What it held before, if it is changed.
    before: Option<String>,
    text: String,
}

impl Changes {
    /// No files yet, below this folder.
    pub(crate) fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), files: Vec::new() }
    }

    /// A new file.
    pub(crate) fn create(&mut self, path: impl Into<PathBuf>, text: String) {
        let path = path.into();
        let text =
            if path.extension().is_some_and(|extension| extension == "rs") { self.formatted(text) } else { text };
        self.files.push(File { path, before: None, text });
    }

    /// A change of a file.
    pub(crate) fn edit(&mut self, path: impl Into<PathBuf>, before: String, text: String) {
        self.files.push(File { path: path.into(), before: Some(before), text });
    }

    /// Writes the files, and prints what it wrote, remarks, and what to do next.
    ///
    /// # Errors
    /// The first file that exists, or cannot be written. In the first case nothing is written.
    pub(crate) fn write(self, how: How, remarks: &[String], next: &str) -> Result<(), String> {
        for file in &self.files {
            let path = self.root.join(&file.path);
            if file.before.is_none() && path.exists() && !how.overwrite {
                let path = path.display();
                return Err(format!("{path} exists, and nothing was written; --overwrite replaces it"));
            }
        }
        for file in &self.files {
            if how.dry_run {
                file.show();
                continue;
            }
            let path = self.root.join(&file.path);
            write(&path, &file.text).map_err(|error| format!("{}: {error}", path.display()))?;
            println!("{}", file.summary());
        }
        for remark in remarks {
            println!("note: {remark}");
        }
        println!("next: {next}");
        Ok(())
    }

    /// The text as rustfmt has it with the user's settings, or as it is if there is no rustfmt.
    fn formatted(&self, text: String) -> String {
        let folder = self.root.ancestors().find(|folder| folder.is_dir());
        let mut command = Command::new("rustfmt");
        command.args(["--edition", "2024"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        let formatted = command.spawn().and_then(|mut rustfmt| {
            // The texts are smaller than what a pipe holds, so that neither side waits for the other.
            rustfmt.stdin.take().expect("it is a pipe").write_all(text.as_bytes())?;
            rustfmt.wait_with_output()
        });
        match formatted {
            Ok(output) if output.status.success() => String::from_utf8(output.stdout).unwrap_or(text),
            _ => text,
        }
    }
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

impl File {
    fn summary(&self) -> String {
        let (path, lines) = (self.path.display(), self.text.lines().count());
        match &self.before {
            None => format!("wrote    {path} ({lines} lines)"),
            Some(before) => {
                let added = added(before, &self.text).len();
                format!("changed  {path} ({added} {} changed)", if added == 1 { "line" } else { "lines" })
            }
        }
    }

    /// Prints the file, or the lines that are new in it.
    fn show(&self) {
        let path = self.path.display();
        match &self.before {
            None => {
                println!("would write {path}:");
                for line in self.text.lines() {
                    println!("    {line}");
                }
            }
            Some(before) => {
                println!("would change {path}:");
                for (number, line) in added(before, &self.text) {
                    println!("    {number}: {line}");
                }
            }
        }
    }
}

/// The lines of a text that are not in another, with their numbers. Changes only insert lines and replace some.
fn added<'t>(before: &str, after: &'t str) -> Vec<(usize, &'t str)> {
    let mut left = before.lines().peekable();
    let mut added = Vec::new();
    for (index, line) in after.lines().enumerate() {
        if left.peek() == Some(&line) {
            left.next();
        } else if left.clone().any(|other| other == line) && !line.trim().is_empty() {
            // The lines up to it were replaced.
            while left.next().is_some_and(|other| other != line) {}
        } else {
            added.push((index + 1, line));
        }
    }
    added
}
