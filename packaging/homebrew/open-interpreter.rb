class OpenInterpreter < Formula
  desc "Run model-written code in a sandbox, with your approval"
  homepage "https://github.com/openinterpreter/open-interpreter"
  url "@URL@"
  version "@VERSION@"
  sha256 "@SHA256@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "cmake" => :build
  depends_on "llvm" => :build
  depends_on "rust" => :build
  # The sandbox is made of Linux's own parts.
  depends_on :linux

  def install
    ENV["LIBCLANG_PATH"] = Formula["llvm"].opt_lib
    system "cargo", "install", *std_cargo_args(path: "crates/cli")
    generate_completions_from_executable(bin/"interpreter", "completions", shells: [:bash, :zsh, :fish])
    mkdir "man"
    system bin/"interpreter", "man", "--output", "man"
    man1.install Dir["man/*.1"]
  end

  def caveats
    <<~TEXT
      Check this machine with: interpreter doctor
      `brew uninstall` leaves your settings, record and models in ~/.config/interpreter,
      ~/.local/share/interpreter and ~/.local/state/interpreter.
    TEXT
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/interpreter --version")
    assert_match "interpreter", shell_output("#{bin}/interpreter completions bash")
  end
end
