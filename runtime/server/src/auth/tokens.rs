//! Bearer tokens, from a file or a single one. Stores only keyed digests, so that the time of a lookup does not reveal
//! how much of a token is right.
use std::{
    collections::HashMap,
    fmt,
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use arc_swap::ArcSwap;

use super::{
    Soon, User,
    authenticate::{Authenticate, Credentials, Identity},
};

/// Users by their bearer tokens.
pub struct Tokens {
    /// Two independent keys give a digest of 128 bits. Collisions with unknown tokens are out of reach, and comparing
    /// digests reveals nothing about the tokens.
    keys: (RandomState, RandomState),
    users: HashMap<(u64, u64), Arc<User>>,
    /// The length of the longest token. Those of service accounts and ID tokens are longer, and need no digest here.
    longest: usize,
}

/// Why a token file was refused, and at which line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenFileError {
    /// The line, counted from one.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for TokenFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "token file, line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for TokenFileError {}

impl Default for Tokens {
    fn default() -> Self {
        Self { keys: (RandomState::new(), RandomState::new()), users: HashMap::new(), longest: 0 }
    }
}

impl Tokens {
    /// A single token of a user in `system:masters`.
    pub fn admin(token: &str) -> Self {
        let mut tokens = Self::default();
        tokens.add(
            token,
            User {
                name: "admin".to_owned(),
                uid: "admin".to_owned(),
                groups: vec![User::MASTERS.into()],
                ..User::default()
            },
        );
        tokens
    }

    /// Parses a token file: lines of `token,user,uid,"group,group"`, with optional groups. Blank lines are skipped.
    ///
    /// # Errors
    /// [`TokenFileError`] for a line without token, user and uid, or a repeated token.
    pub fn from_csv(text: &str) -> Result<Self, TokenFileError> {
        let mut tokens = Self::default();
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.trim_start().starts_with('#') {
                continue;
            }
            let refuse = |message: &str| TokenFileError { line: at + 1, message: message.to_owned() };
            let cells = cells(line).map_err(|message| refuse(&message))?;
            let [token, name, uid, groups @ ..] = cells.as_slice() else {
                return Err(refuse("expected token,user,uid and optionally \"group,group\""));
            };
            if token.is_empty() || name.is_empty() {
                return Err(refuse("the token and the user may not be empty"));
            }
            let groups = groups.first().map(String::as_str).unwrap_or_default();
            let groups = groups.split(',').map(str::trim).filter(|g| !g.is_empty()).map(str::to_owned).collect();
            if !tokens.add(token, User { name: name.clone(), uid: uid.clone(), groups, ..User::default() }) {
                return Err(refuse("the token was given on an earlier line"));
            }
        }
        Ok(tokens)
    }

    /// Adds a user to `system:authenticated` and to the tokens. Returns false and changes nothing if the token is
    /// taken.
    pub fn add(&mut self, token: &str, mut user: User) -> bool {
        if !user.is_in(User::AUTHENTICATED) {
            user.groups.push(User::AUTHENTICATED.to_owned());
        }
        let digest = self.digest(token);
        if self.users.contains_key(&digest) {
            return false;
        }
        self.users.insert(digest, Arc::new(user));
        self.longest = self.longest.max(token.len());
        true
    }

    fn digest(&self, token: &str) -> (u64, u64) {
        (self.keys.0.hash_one(token), self.keys.1.hash_one(token))
    }

    /// The user of a token.
    pub fn find(&self, token: &str) -> Option<&Arc<User>> {
        if token.len() > self.longest { None } else { self.users.get(&self.digest(token)) }
    }
}

impl Authenticate for Tokens {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        Soon::now(Ok(credentials.token.and_then(|token| self.find(token)).cloned()))
    }
}

/// Tokens that can be replaced while requests are served.
pub struct CurrentTokens(ArcSwap<Tokens>);

impl CurrentTokens {
    /// The first tokens.
    pub fn new(tokens: Tokens) -> Self {
        Self(ArcSwap::from_pointee(tokens))
    }

    /// Replaces all tokens for subsequent requests.
    pub fn replace(&self, tokens: Tokens) {
        self.0.store(Arc::new(tokens));
    }
}

impl Authenticate for CurrentTokens {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        let tokens = self.0.load();
        Soon::now(Ok(credentials.token.and_then(|token| tokens.find(token)).cloned()))
    }
}

/// The cells of one line of CSV. A quoted cell may contain commas, and quotes written twice.
fn cells(line: &str) -> Result<Vec<String>, String> {
    let mut cells = vec![String::new()];
    let mut characters = line.trim_end_matches('\r').chars().peekable();
    let mut quoted = false;
    while let Some(c) = characters.next() {
        let cell = cells.last_mut().expect("there is always a cell");
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if cell.trim().is_empty() => {
                cell.clear();
                quoted = true;
            }
            ',' if !quoted => cells.push(String::new()),
            c => cell.push(c),
        }
    }
    if quoted {
        return Err("a quote is not closed".to_owned());
    }
    Ok(cells.into_iter().map(|cell| cell.trim().to_owned()).collect())
}
