//! Vectors against the published value and against the plain reference.

use embedder::encoder::Encoder as _;
use embedder::import::import_model;
use embedder::tokens::TokenIds;
use shared::settings::Precision;

use crate::parts::{TEXTS, cosine, minilm, minilm_source, open};
use crate::reference::Reference;
use crate::tiny::Tiny;

fn slices(ids: &[TokenIds]) -> Vec<&[u32]> {
    ids.iter().map(Vec::as_slice).collect()
}

fn largest_difference(left: &[f32], right: &[f32]) -> f32 {
    left.iter()
        .zip(right)
        .map(|(left, right)| (left - right).abs())
        .fold(0.0, f32::max)
}

#[test]
fn the_published_cosine_comes_out() {
    let (model, mut encoder) = open(minilm(), Precision::Fp32);
    let ids = ["A man is eating food.", "A man is eating a piece of bread."]
        .map(|text| model.tokens.document(text).unwrap());
    let vectors = encoder.encode(&slices(&ids)).unwrap();
    let found = cosine(&vectors[0], &vectors[1]);
    // 0.7553 in the examples of the sentence-transformers documentation, to four digits.
    assert!((found - 0.7553).abs() < 0.002, "cosine is {found}");
}

#[test]
fn fp32_is_the_reference_whatever_the_padding() {
    let (model, mut encoder) = open(minilm(), Precision::Fp32);
    let reference = Reference::read(&minilm_source());
    let ids: Vec<_> = TEXTS
        .iter()
        .map(|text| model.tokens.document(text).unwrap())
        .collect();
    let together = encoder.encode(&slices(&ids)).unwrap();
    for ((text, ids), vector) in TEXTS.iter().zip(&ids).zip(&together) {
        let alone = encoder.encode(&[ids]).unwrap().remove(0);
        // Sums of up to 1,536 products in another order.
        let padding = largest_difference(&alone, vector);
        assert!(padding < 1e-6, "padding changes `{text}` by {padding}");
        let error = largest_difference(&reference.vector(ids, true), vector);
        assert!(error < 1e-4, "`{text}` differs by {error}");
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-5);
    }
}

#[test]
fn int8_stays_near_fp32() {
    let (model, mut exact) = open(minilm(), Precision::Fp32);
    let (_, mut quantised) = open(minilm(), Precision::Int8);
    let ids: Vec<_> = TEXTS
        .iter()
        .map(|text| model.tokens.document(text).unwrap())
        .collect();
    let exact = exact.encode(&slices(&ids)).unwrap();
    let together = quantised.encode(&slices(&ids)).unwrap();
    for (index, text) in TEXTS.iter().enumerate() {
        let alone = quantised.encode(&[&ids[index]]).unwrap().remove(0);
        for vector in [&together[index], &alone] {
            let found = cosine(&exact[index], vector);
            println!("int8 {found:.4} `{text:.40}`");
            assert!(found >= 0.98, "`{text}` has cosine {found}");
        }
    }
}

#[test]
fn other_shapes_are_the_reference_too() {
    #[track_caller]
    fn check(tiny: Tiny) {
        let folder = tempfile::tempdir().unwrap();
        let (source, out) = (folder.path().join("source"), folder.path().join("tiny"));
        tiny.write(&source);
        import_model(&source, &out).unwrap();
        let (model, mut encoder) = open(&out, Precision::Fp32);
        let (_, mut quantised) = open(&out, Precision::Int8);
        // The reference knows the tensors by their plain names.
        let plain = folder.path().join("plain");
        Tiny { prefix: "", ..tiny }.write(&plain);
        let reference = Reference::read(&plain);
        let texts = [
            "the pumps leak .",
            "valve",
            "the valve : the pump : the query unknown",
        ];
        let ids = texts.map(|text| model.tokens.document(text).unwrap());
        assert_eq!(ids[0], [2, 4, 5, 9, 8, 11, 3], "neither cut nor padded");
        let vectors = encoder.encode(&slices(&ids)).unwrap();
        let rough = quantised.encode(&slices(&ids)).unwrap();
        for ((ids, vector), rough) in ids.iter().zip(&vectors).zip(&rough) {
            let expect = reference.vector(ids, tiny.pooling == "mean");
            let error = largest_difference(&expect, vector);
            assert!(error < 1e-5, "{ids:?} differs by {error}");
            let near = cosine(&expect, rough);
            assert!(near > 0.98, "int8 {ids:?} has cosine {near}");
        }
    }
    check(Tiny::BERT);
    check(Tiny {
        pooling: "cls",
        prefix: "bert.",
        ..Tiny::BERT
    });
    check(Tiny {
        model_type: "xlm-roberta",
        prefix: "roberta.",
        ..Tiny::BERT
    });
}

#[test]
fn an_empty_batch_gives_no_vectors() {
    let (_, mut encoder) = open(minilm(), Precision::Fp32);
    assert!(encoder.encode(&[]).unwrap().is_empty());
    let description = encoder.describe();
    assert_eq!(description.model.as_str(), "all-MiniLM-L6-v2-fp32");
    assert_eq!((description.dimension, description.window), (384, 256));
}
