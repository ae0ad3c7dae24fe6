import type { SystemMark } from "./prepareSystems";

/** A system's letter in its hue, with a ring dashed like its line. */
function SystemLetter({ mark }: { readonly mark: SystemMark }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 34 16" className="h-4 w-8.5 shrink-0">
      <path d="M0 8H34" stroke={mark.hue} strokeWidth="2" {...(mark.dash === "" ? {} : { strokeDasharray: mark.dash })} />
      <circle cx="17" cy="8" r="7" fill="var(--panel)" stroke={mark.hue} strokeWidth="1.5" />
      <text x="17" y="8" dy="0.35em" textAnchor="middle" fontSize="9" fontWeight="600" fill="var(--ink)">
        {mark.letter}
      </text>
    </svg>
  );
}

/** A system's name behind its letter. */
export function SystemChip({ mark }: { readonly mark: SystemMark }) {
  return (
    <span className="inline-flex min-w-0 items-center gap-1.5">
      <SystemLetter mark={mark} />
      {mark.label}
    </span>
  );
}
