//! stub
use crate::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;
#[derive(Clone, Debug)]
pub struct Dataset { pub name: String, pub groups: Vec<Group> }
#[derive(Clone, Debug)]
pub struct Group { pub name: String, pub start: Timestamp, pub step: Duration, pub cycles: u32, pub pages: Vec<RecordedPage> }
#[derive(Clone, Debug)]
pub struct RecordedPage { pub url: String, pub site: String, pub weight: f64, pub born: u32, pub history: History }
#[derive(Clone, Debug)]
pub enum History {
    Bits(Vec<u64>),
    Texts { from: Vec<(u32, u32)>, texts: Vec<Arc<[u64]>> },
}
