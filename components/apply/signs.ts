/** How a difference is marked: sign, word and colour together. */
export const signs = {
  "+": { word: "added", tone: "text-good", mark: "+" },
  "-": { word: "removed", tone: "text-bad", mark: "−" },
  "~": { word: "changed", tone: "text-warn", mark: "~" },
  "=": { word: "unchanged", tone: "text-ink-3", mark: "=" },
} as const;
