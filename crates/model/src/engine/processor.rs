//! The instruction sets that the engine was compiled for, compared with this processor.
//!
//! `.cargo/config.toml` says what it is compiled for. Its first instruction that the processor does not know would end
//! the program without a word, so it is looked at before.

/// Instruction sets that this processor lacks, by their usual names.
#[cfg(target_arch = "x86_64")]
pub(crate) fn lacks() -> Vec<&'static str> {
    use std::arch::is_x86_feature_detected as has;
    let wanted = [
        ("SSE4.2", has!("sse4.2")),
        ("AVX", has!("avx")),
        ("AVX2", has!("avx2")),
        ("FMA", has!("fma")),
        ("F16C", has!("f16c")),
        ("BMI2", has!("bmi2")),
    ];
    missing(&wanted)
}

/// Nothing is missing: elsewhere the engine is compiled for the baseline.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn lacks() -> Vec<&'static str> {
    missing(&[])
}

fn missing(wanted: &[(&'static str, bool)]) -> Vec<&'static str> {
    wanted.iter().filter(|(_, there)| !there).map(|(name, _)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(missing(&[("AVX", true), ("AVX2", false), ("FMA", false)]), ["AVX2", "FMA"]);
    }

    /// The list above and what the engine is compiled for must say the same.
    #[test]
    fn all_that_is_compiled_for_is_looked_for() {
        let config = include_str!("../../../../.cargo/config.toml");
        let source = include_str!("processor.rs");
        for line in
            config.lines().filter(|line| line.starts_with("GGML_") && line.ends_with("\"ON\""))
        {
            let name = line.trim_start_matches("GGML_").split(' ').next().unwrap().to_lowercase();
            let name = name.replace("sse42", "sse4.2");
            assert!(source.contains(&format!("has!(\"{name}\")")), "{name} is not looked for");
        }
        assert!(config.contains("GGML_NATIVE = \"OFF\""));
    }

    #[test]
    fn the_processor_can_be_asked() {
        assert!(lacks().len() <= 6);
    }
}
