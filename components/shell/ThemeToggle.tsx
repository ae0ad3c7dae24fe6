"use client";

import { useState } from "react";
import { applyTheme, THEMES, type Theme } from "./theme";

const signs: Readonly<Record<Theme, string>> = { system: "◐", light: "○", dark: "●" };

/** Steps through system, light and dark. */
export function ThemeToggle({ initial }: { readonly initial: Theme }) {
  const [theme, setTheme] = useState(initial);
  return (
    <button
      type="button"
      aria-label={`Theme: ${theme}`}
      title={`Theme: ${theme}`}
      className="inline-flex h-8 items-center gap-1.5 rounded-md px-2 text-sm text-ink-2 hover:bg-sunken hover:text-ink"
      onClick={() => {
        const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";
        applyTheme(next);
        setTheme(next);
      }}
    >
      <span aria-hidden="true">{signs[theme]}</span>
      <span className="hidden lg:inline">{theme}</span>
    </button>
  );
}
