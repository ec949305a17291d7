//! Light or dark, before the first paint: this script alone is waited for.

try {
  const theme = localStorage.getItem("interpreter.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
} catch {
  // Without storage the system's choice holds.
}
