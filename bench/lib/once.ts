/** Measures at most once, whatever the number of figures taken from the result. */
export function once<Result>(measure: () => Promise<Result>): () => Promise<Result> {
  let measuring: Promise<Result> | null = null;
  return () => {
    measuring ??= measure();
    return measuring;
  };
}
