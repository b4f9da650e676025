//! Addresses within the dashboard, with their queries written as they have to be.

use url::form_urlencoded::Serializer;

/// An address of the dashboard with a query that grows.
#[derive(Clone, Debug)]
pub(crate) struct Href {
    path: String,
    query: Vec<(String, String)>,
}

impl Href {
    /// An address without a query.
    pub(crate) fn to(path: impl Into<String>) -> Self {
        Self { path: path.into(), query: Vec::new() }
    }

    /// The same with one more parameter.
    pub(crate) fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.query.push((name.to_owned(), value.to_string()));
        self
    }

    /// The same with a parameter if there is a value that is not empty.
    pub(crate) fn with_some(self, name: &str, value: Option<impl ToString>) -> Self {
        match value.map(|value| value.to_string()).filter(|value| !value.is_empty()) {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// The address as it stands in a link.
    pub(crate) fn written(&self) -> String {
        if self.query.is_empty() {
            return self.path.clone();
        }
        let query = Serializer::new(String::new()).extend_pairs(&self.query).finish();
        format!("{}?{query}", self.path)
    }
}

/// The view of a page.
pub(crate) fn page(id: i64) -> String {
    format!("/page/{id}")
}

/// The view of the page with that address.
pub(crate) fn named(url: &str) -> String {
    Href::to("/page").with("url", url).written()
}

/// The view of a site.
pub(crate) fn site(host: &str) -> String {
    Href::to("/site").with("host", host).written()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_can_not_leave_its_place_in_a_query() {
        let to = Href::to("/pages").with("url", "a&b=c d#ü").with_some("host", Some("")).with("n", 3);
        assert_eq!(to.written(), "/pages?url=a%26b%3Dc+d%23%C3%BC&n=3");
        assert_eq!(Href::to("/").written(), "/");
    }
}
