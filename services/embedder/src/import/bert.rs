//! The encoder of Devlin et al., *BERT* (2018), as a graph of ONNX Runtime's fused operators.
//!
//! Inputs `input_ids` and `attention_mask`, both `i64[batch, sequence]` with the padding on the
//! right; output `last_hidden_state`, `f32[batch, sequence, hidden]`. Pooling and normalisation
//! are not in the graph: a graph that a folder brings along ends here too, so the embedder does
//! them once, for both.

use std::path::Path;

use shared::settings::Precision;

use super::folder::BertConfig;
use super::graph::{Axis, GraphBuilder, Written};
use super::quantise::quantise;
use super::weights::Weights;
use crate::error::ImportError;
use crate::model::graph_file;

/// Writes the graph at `precision` into `folder`, under the precision's file name.
pub(super) fn write(
    config: &BertConfig,
    weights: &Weights<'_>,
    precision: Precision,
    folder: &Path,
) -> Result<Vec<Written>, ImportError> {
    let file = graph_file(precision);
    let graph = GraphBuilder::create(folder, file)?;
    let mut bert = Bert {
        config,
        weights,
        precision,
        graph,
    };
    bert.embeddings()?;
    for layer in 0..config.num_hidden_layers {
        bert.layer(layer)?;
    }
    bert.graph.finish(folder, file)
}

struct Bert<'a> {
    config: &'a BertConfig,
    weights: &'a Weights<'a>,
    precision: Precision,
    graph: GraphBuilder,
}

impl Bert<'_> {
    fn embeddings(&mut self) -> Result<(), ImportError> {
        let hidden = self.config.hidden_size;
        let batch = [Axis::Batch, Axis::Sequence];
        self.graph.input("input_ids", &batch);
        self.graph.input("attention_mask", &batch);
        self.graph.output(
            &state(self.config.num_hidden_layers, self.config),
            &[Axis::Batch, Axis::Sequence, Axis::Size(hidden)],
        );
        for (from, to) in [("input_ids", "ids"), ("attention_mask", "mask")] {
            let to_int32 = super::onnx::element::INT32;
            self.graph
                .standard("Cast", &[from], &[to])
                .int("to", to_int32.into());
        }

        let word = "embeddings.word_embeddings.weight";
        let rows = self
            .weights
            .floats(word, &[self.config.vocab_size, hidden])?;
        self.graph
            .floats(word, &[self.config.vocab_size, hidden], &rows)?;
        let position = "embeddings.position_embeddings.weight";
        let rows = self.positions(position)?;
        self.graph
            .floats(position, &[rows.len() / hidden, hidden], &rows)?;
        let [gamma, beta] = self.norm("embeddings.LayerNorm")?;
        self.graph
            .fused(
                "EmbedLayerNormalization",
                &["ids", "", word, position, "", &gamma, &beta, "mask"],
                &[&state(0, self.config), "lengths"],
            )
            .float("epsilon", self.config.layer_norm_eps)
            // 1: the second output is each row's number of tokens, which `Attention` takes.
            .int("mask_index_type", 1);
        Ok(())
    }

    /// Position embeddings from position 0 on, with the embedding of token type 0 added: a single
    /// text has no other type.
    fn positions(&self, name: &str) -> Result<Vec<f32>, ImportError> {
        let hidden = self.config.hidden_size;
        let types = self.weights.floats(
            "embeddings.token_type_embeddings.weight",
            &[self.config.type_vocab_size, hidden],
        )?;
        let rows = self
            .weights
            .floats(name, &[self.config.max_position_embeddings, hidden])?;
        let rows = rows.into_iter().skip(self.config.first_position() * hidden);
        let first_type = types.into_iter().take(hidden).collect::<Vec<_>>();
        Ok(rows
            .zip(first_type.iter().cycle())
            .map(|(position, kind)| position + kind)
            .collect())
    }

    fn layer(&mut self, layer: usize) -> Result<(), ImportError> {
        let (hidden, inner) = (self.config.hidden_size, self.config.intermediate_size);
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let input = state(layer, self.config);

        let context = self.attention(&name("attention"), &input)?;
        let attended = self.linear(&name("attention.output.dense"), &context, hidden, hidden)?;
        let middle = name("middle");
        self.add_and_norm(&name("attention.output"), [&attended, &input], &middle)?;

        let dense = name("intermediate.dense");
        let wide = self.linear(&dense, &middle, hidden, inner)?;
        let bias = self.vector(&format!("{dense}.bias"), inner)?;
        let active = name("active");
        self.graph.fused("BiasGelu", &[&wide, &bias], &[&active]);
        let narrow = self.linear(&name("output.dense"), &active, inner, hidden)?;
        let output = state(layer + 1, self.config);
        self.add_and_norm(&name("output"), [&narrow, &middle], &output)
    }

    /// Self-attention of all heads, its three projections in one matrix.
    fn attention(&mut self, name: &str, input: &str) -> Result<String, ImportError> {
        let hidden = self.config.hidden_size;
        let parts = ["query", "key", "value"].map(|part| format!("{name}.self.{part}"));
        let [query, key, value] = parts
            .each_ref()
            .map(|part| self.weights.matrix(part, hidden, hidden));
        let (query, key, value) = (query?, key?, value?);
        let rows = query.chunks_exact(hidden).zip(key.chunks_exact(hidden));
        let matrix: Vec<f32> = rows
            .zip(value.chunks_exact(hidden))
            .flat_map(|((query, key), value)| [query, key, value].concat())
            .collect();
        let mut bias = Vec::with_capacity(3 * hidden);
        for part in &parts {
            bias.extend(self.weights.floats(&format!("{part}.bias"), &[hidden])?);
        }
        let [matrix_name, bias_name, output] =
            ["matrix", "bias", "context"].map(|part| format!("{name}.self.{part}"));
        self.graph.floats(&bias_name, &[3 * hidden], &bias)?;
        let heads = i64::try_from(self.config.num_attention_heads).unwrap_or(i64::MAX);
        let dims = [hidden, 3 * hidden];
        match self.precision {
            Precision::Fp32 => {
                self.graph.floats(&matrix_name, &dims, &matrix)?;
                let inputs = [input, &matrix_name, &bias_name, "lengths"];
                self.graph
                    .fused("Attention", &inputs, &[&output])
                    .int("num_heads", heads);
            }
            Precision::Int8 => {
                let scales = self.quantised(&matrix_name, dims, &matrix)?;
                let [codes, scale, zero] =
                    ["codes", "scale", "zero"].map(|part| format!("{name}.self.{part}"));
                let outputs = [codes.as_str(), &scale, &zero];
                self.graph
                    .standard("DynamicQuantizeLinear", &[input], &outputs);
                let inputs = [
                    &codes,
                    &matrix_name,
                    &bias_name,
                    &scale,
                    &scales,
                    "lengths",
                    zero.as_str(),
                ];
                self.graph
                    .fused("QAttention", &inputs, &[&output])
                    .int("num_heads", heads);
            }
        }
        Ok(output)
    }

    /// `input · matrix`, without the bias: the operator that follows adds it.
    fn linear(
        &mut self,
        name: &str,
        input: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<String, ImportError> {
        let matrix = self.weights.matrix(name, inputs, outputs)?;
        let (matrix_name, output) = (format!("{name}.matrix"), format!("{name}.product"));
        let dims = [inputs, outputs];
        match self.precision {
            Precision::Fp32 => {
                self.graph.floats(&matrix_name, &dims, &matrix)?;
                self.graph
                    .standard("MatMul", &[input, &matrix_name], &[&output]);
            }
            Precision::Int8 => {
                let scales = self.quantised(&matrix_name, dims, &matrix)?;
                // `DynamicQuantizeLinear`, `MatMulInteger` and the scaling, in one operator.
                let inputs = [input, &matrix_name, &scales];
                self.graph
                    .fused("DynamicQuantizeMatMul", &inputs, &[&output]);
            }
        }
        Ok(output)
    }

    /// Layer normalisation of the sum of both `inputs` and the bias of `{name}.dense`.
    fn add_and_norm(
        &mut self,
        name: &str,
        inputs: [&str; 2],
        output: &str,
    ) -> Result<(), ImportError> {
        let bias = self.vector(&format!("{name}.dense.bias"), self.config.hidden_size)?;
        let [gamma, beta] = self.norm(&format!("{name}.LayerNorm"))?;
        let [input, skip] = inputs;
        self.graph
            .fused(
                "SkipLayerNormalization",
                &[input, skip, &gamma, &beta, &bias],
                &[output],
            )
            .float("epsilon", self.config.layer_norm_eps);
        Ok(())
    }

    fn norm(&mut self, name: &str) -> Result<[String; 2], ImportError> {
        let hidden = self.config.hidden_size;
        let gamma = self.vector(&format!("{name}.weight"), hidden)?;
        Ok([gamma, self.vector(&format!("{name}.bias"), hidden)?])
    }

    fn vector(&mut self, name: &str, length: usize) -> Result<String, ImportError> {
        let values = self.weights.floats(name, &[length])?;
        self.graph.floats(name, &[length], &values)?;
        Ok(name.to_owned())
    }

    /// Adds a matrix as codes under `name` and gives the name of its scales.
    fn quantised(
        &mut self,
        name: &str,
        dims: [usize; 2],
        matrix: &[f32],
    ) -> Result<String, ImportError> {
        let quantised = quantise(matrix, dims[1]);
        let scales = format!("{name}.scales");
        self.graph.bytes(name, &dims, &quantised.codes)?;
        self.graph.floats(&scales, &[dims[1]], &quantised.scales)?;
        Ok(scales)
    }
}

/// The name of the hidden state that goes into `layer`; the last layer's output is the graph's.
fn state(layer: usize, config: &BertConfig) -> String {
    if layer == config.num_hidden_layers {
        "last_hidden_state".to_owned()
    } else {
        format!("state.{layer}")
    }
}
