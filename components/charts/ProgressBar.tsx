/** Progress: the finished share, and the failed share of it, of what is planned. A text is next to it. */
export function ProgressBar({ label, done, failed }: { readonly label: string; readonly done: number; readonly failed: number }) {
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.floor((done + failed) * 100)}
      className="flex h-2 w-full overflow-hidden rounded bg-line"
    >
      <div className="h-full bg-accent" style={{ width: `${done * 100}%` }} />
      <div className="hatched h-full bg-bad" style={{ width: `${failed * 100}%` }} />
    </div>
  );
}
