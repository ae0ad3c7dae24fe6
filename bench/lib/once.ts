/** Measures at most once, however many figures are read off the result. */
export function once<Result>(measure: () => Promise<Result>): () => Promise<Result> {
  let measuring: Promise<Result> | null = null;
  return () => {
    measuring ??= measure();
    return measuring;
  };
}
