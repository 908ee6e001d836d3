mod encoding;
mod requests;
mod responses;
mod trailers;

/// Every way to cut `bytes` into two pieces, each byte alone, and all at once.
fn cuts(bytes: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let mut cuts: Vec<Vec<Vec<u8>>> = (1..bytes.len())
        .map(|at| vec![bytes[..at].to_vec(), bytes[at..].to_vec()])
        .collect();
    cuts.push(bytes.iter().map(|byte| vec![*byte]).collect());
    cuts.push(vec![bytes.to_vec()]);
    cuts
}
