/** A short piece of a line for keys and readouts, with its hue and dashes. */
export function LineSwatch({ hue, dashed }: { readonly hue: string; readonly dashed: boolean }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 14 4" className="h-1 w-3.5 shrink-0">
      <path d="M0 2H14" stroke={hue} strokeWidth="2" {...(dashed ? { strokeDasharray: "4 2" } : {})} />
    </svg>
  );
}
