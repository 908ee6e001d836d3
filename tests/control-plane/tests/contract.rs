//! The reference keeps its own contract.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use control_plane::Table;
use serde_json::{Value, json};

fn table(keys: usize, rows: usize) -> Table {
    let mut table = Table::default();
    for key in 0..keys {
        assert!(table.put(json!({"id": format!("k{key:03}")})));
    }
    table.set_page_rows(rows);
    table
}

#[test]
fn the_pages_of_a_table_have_each_key_once() {
    for (keys, rows, pages) in [
        (0, 2, 1),
        (1, 2, 1),
        (2, 2, 1),
        (3, 2, 2),
        (4, 2, 2),
        (5, 1, 5),
    ] {
        let table = table(keys, rows);
        let (mut target, mut ids, mut read) = ("/v1/keys/resolved".to_owned(), Vec::new(), 0);
        loop {
            let page: Value = serde_json::from_str(&table.page(&target).unwrap()).unwrap();
            let rows = page["keys"].as_array().unwrap().clone();
            ids.extend(
                rows.iter()
                    .map(|row| row["id"].as_str().unwrap().to_owned()),
            );
            read += 1;
            match page["next"].as_str() {
                Some(next) => next.clone_into(&mut target),
                None => break,
            }
        }
        let expected: Vec<String> = (0..keys).map(|key| format!("k{key:03}")).collect();
        assert_eq!((ids, read), (expected, pages), "{keys} keys by {rows}");
    }
}

#[test]
fn every_change_has_another_tag_and_nothing_else_has() {
    let mut table = table(2, 10);
    let before = table.etag();
    assert!(!table.remove("x") && !table.revoke("x"));
    assert_eq!(table.etag(), before);
    let changes: [fn(&mut Table) -> bool; 3] = [
        |table| table.revoke("k000"),
        |table| table.remove("k001"),
        |table| table.put(json!({"id": "k001"})),
    ];
    let mut tags = vec![before];
    for change in changes {
        assert!(change(&mut table));
        assert!(!tags.contains(&table.etag()));
        tags.push(table.etag());
    }
}

#[test]
fn there_is_no_page_behind_the_last_one_and_none_elsewhere() {
    let table = table(3, 2);
    assert!(table.page("/v1/keys/resolved?page=2").is_some());
    for target in [
        "/v1/keys/resolved?page=3",
        "/v1/keys/resolved?page=0",
        "/v1/keys/resolved?x",
        "/v1/keys",
        "/",
    ] {
        assert_eq!(table.page(target), None, "{target}");
    }
}
