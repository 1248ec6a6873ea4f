//! Building an ONNX graph node by node, its large weights in a data file beside it.
//!
//! ONNX Runtime maps such a file into memory: of an embedding table of 47 MB only the rows that
//! are read become resident, and a matrix that is packed at load leaves no second copy behind.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use prost::Message as _;
use sha2::{Digest, Sha256};

use super::onnx::{
    AttributeProto, AttributeType, DataLocation, Dimension, DimensionProto, GraphProto, ModelProto,
    NodeProto, OperatorSetIdProto, StringStringEntryProto, TensorProto, TensorShapeProto,
    TensorTypeProto, TypeProto, ValueInfoProto, element,
};
use crate::error::ImportError;

/// ONNX operator set 17 needs IR version 8; every ONNX Runtime since 1.12 reads both.
const OPSET: i64 = 17;
const IR_VERSION: i64 = 8;
/// The domain of ONNX Runtime's fused operators, version 1.
const FUSED: &str = "com.microsoft";
/// Tensors from this size on go to the data file, each on a page border so that it can be mapped.
const EXTERNAL_FROM_BYTES: usize = 16 * 1024;
const PAGE: u64 = 4096;

/// Name and SHA-256 of a file that was written.
pub(super) type Written = (String, String);

/// A dimension of a graph input or output.
#[derive(Clone, Copy)]
pub(super) enum Axis {
    Batch,
    Sequence,
    Size(usize),
}

/// A graph under construction. Names of values are chosen by the caller.
pub(super) struct GraphBuilder {
    graph: GraphProto,
    data: DataFile,
}

impl GraphBuilder {
    /// A graph that will be written as `{folder}/{file}` and `{folder}/{file}.data`.
    pub(super) fn create(folder: &Path, file: &str) -> Result<Self, ImportError> {
        let graph = GraphProto {
            name: Some("encoder".to_owned()),
            ..GraphProto::default()
        };
        Ok(Self {
            graph,
            data: DataFile::create(folder.join(format!("{file}.data")))?,
        })
    }

    pub(super) fn input(&mut self, name: &str, axes: &[Axis]) {
        self.graph
            .input
            .push(value_info(name, element::INT64, axes));
    }

    pub(super) fn output(&mut self, name: &str, axes: &[Axis]) {
        self.graph
            .output
            .push(value_info(name, element::FLOAT, axes));
    }

    /// A constant of `f32` values.
    pub(super) fn floats(
        &mut self,
        name: &str,
        dims: &[usize],
        values: &[f32],
    ) -> Result<(), ImportError> {
        let bytes = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.constant(name, element::FLOAT, dims, bytes)
    }

    /// A constant of `i8` values.
    pub(super) fn bytes(
        &mut self,
        name: &str,
        dims: &[usize],
        values: &[i8],
    ) -> Result<(), ImportError> {
        let bytes = values.iter().map(|value| value.cast_unsigned()).collect();
        self.constant(name, element::INT8, dims, bytes)
    }

    fn constant(
        &mut self,
        name: &str,
        data_type: i32,
        dims: &[usize],
        bytes: Vec<u8>,
    ) -> Result<(), ImportError> {
        let mut tensor = TensorProto {
            dims: dims.iter().map(|size| size_of_axis(*size)).collect(),
            data_type: Some(data_type),
            name: Some(name.to_owned()),
            ..TensorProto::default()
        };
        if bytes.len() < EXTERNAL_FROM_BYTES {
            tensor.raw_data = Some(bytes);
        } else {
            let offset = self.data.append(&bytes)?;
            tensor.data_location = Some(DataLocation::External.into());
            tensor.external_data = [
                ("location", self.data.name.clone()),
                ("offset", offset.to_string()),
                ("length", bytes.len().to_string()),
            ]
            .map(|(key, value)| StringStringEntryProto {
                key: Some(key.to_owned()),
                value: Some(value),
            })
            .to_vec();
        }
        self.graph.initializer.push(tensor);
        Ok(())
    }

    /// An operator of the ONNX domain.
    pub(super) fn standard(
        &mut self,
        operator: &str,
        inputs: &[&str],
        outputs: &[&str],
    ) -> Node<'_> {
        self.node("", operator, inputs, outputs)
    }

    /// One of ONNX Runtime's own operators.
    pub(super) fn fused(&mut self, operator: &str, inputs: &[&str], outputs: &[&str]) -> Node<'_> {
        self.node(FUSED, operator, inputs, outputs)
    }

    fn node(
        &mut self,
        domain: &str,
        operator: &str,
        inputs: &[&str],
        outputs: &[&str],
    ) -> Node<'_> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let node = NodeProto {
            input: owned(inputs),
            output: owned(outputs),
            name: outputs.first().map(|output| format!("{operator}:{output}")),
            op_type: Some(operator.to_owned()),
            attribute: Vec::new(),
            domain: Some(domain.to_owned()),
        };
        Node(self.graph.node.push_mut(node))
    }

    /// Writes both files and syncs them to disk.
    pub(super) fn finish(self, folder: &Path, file: &str) -> Result<Vec<Written>, ImportError> {
        let set = |domain: &str, version| OperatorSetIdProto {
            domain: Some(domain.to_owned()),
            version: Some(version),
        };
        let model = ModelProto {
            ir_version: Some(IR_VERSION),
            producer_name: Some("ibid".to_owned()),
            graph: Some(self.graph),
            opset_import: vec![set("", OPSET), set(FUSED, 1)],
        };
        let data = self.data.finish()?;
        let mut graph = DataFile::create(folder.join(file))?;
        graph.append(&model.encode_to_vec())?;
        Ok(vec![graph.finish()?, data])
    }
}

/// The node added last, to give it attributes.
pub(super) struct Node<'a>(&'a mut NodeProto);

impl Node<'_> {
    pub(super) fn int(self, name: &str, value: i64) -> Self {
        self.0.attribute.push(AttributeProto {
            name: Some(name.to_owned()),
            i: Some(value),
            r#type: Some(AttributeType::Int.into()),
            ..AttributeProto::default()
        });
        self
    }

    pub(super) fn float(self, name: &str, value: f32) -> Self {
        self.0.attribute.push(AttributeProto {
            name: Some(name.to_owned()),
            f: Some(value),
            r#type: Some(AttributeType::Float.into()),
            ..AttributeProto::default()
        });
        self
    }
}

fn size_of_axis(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

fn value_info(name: &str, elem_type: i32, axes: &[Axis]) -> ValueInfoProto {
    let dimension = |axis: &Axis| match axis {
        Axis::Batch => Dimension::Name("batch".to_owned()),
        Axis::Sequence => Dimension::Name("sequence".to_owned()),
        Axis::Size(size) => Dimension::Size(size_of_axis(*size)),
    };
    let dim = axes
        .iter()
        .map(|axis| DimensionProto {
            value: Some(dimension(axis)),
        })
        .collect();
    let tensor_type = TensorTypeProto {
        elem_type: Some(elem_type),
        shape: Some(TensorShapeProto { dim }),
    };
    ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: Some(TypeProto {
            tensor_type: Some(tensor_type),
        }),
    }
}

/// A file that is hashed while it is written.
struct DataFile {
    path: PathBuf,
    name: String,
    file: BufWriter<File>,
    hash: Sha256,
    length: u64,
}

impl DataFile {
    fn create(path: PathBuf) -> Result<Self, ImportError> {
        let file = File::create(&path).map_err(ImportError::write(&path))?;
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        Ok(Self {
            path,
            name: name.unwrap_or_default(),
            file: BufWriter::new(file),
            hash: Sha256::new(),
            length: 0,
        })
    }

    /// Adds `bytes` from the next page border on and says where that is.
    fn append(&mut self, bytes: &[u8]) -> Result<u64, ImportError> {
        let offset = self.length.next_multiple_of(PAGE);
        let padding = usize::try_from(offset - self.length).unwrap_or_default();
        for part in [vec![0; padding].as_slice(), bytes] {
            self.file
                .write_all(part)
                .map_err(ImportError::write(&self.path))?;
            self.hash.update(part);
        }
        self.length = offset + bytes.len() as u64;
        Ok(offset)
    }

    fn finish(self) -> Result<Written, ImportError> {
        let file = self
            .file
            .into_inner()
            .map_err(|error| ImportError::write(&self.path)(error.into_error()))?;
        file.sync_all().map_err(ImportError::write(&self.path))?;
        Ok((self.name, hex::encode(self.hash.finalize())))
    }
}
