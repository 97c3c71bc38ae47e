/// What is wanted.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BookSpec {
    /// Who wrote it.
    #[api(min_length = 1, pattern = "^[A-Z]")]
    pub author: String,
    #[api(default = 1, minimum = 0)]
    pub copies: i32,
    #[api(default = Genre::Novel)]
    pub genre: Genre,
    #[serde(default)]
    #[api(list = map(key = name), merge)]
    pub chapters: Vec<Chapter>,
    #[serde(default)]
    #[api(list = set, items(max_length = 16))]
    pub tags: Vec<String>,
    pub page_count: Option<Count>,
}

/// A genre.
#[derive(ApiType)]
pub enum Genre {
    Novel,
    #[serde(rename = "Non-fiction")]
    NonFiction,
}

/// Where to read.
#[derive(ApiType)]
#[serde(rename_all = "camelCase")]
pub enum Place {
    Shelf(Shelf),
    /// At home.
    Home { street: String },
}
