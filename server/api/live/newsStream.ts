/** Something of which a reader wants what is newest, not all that ever was. */
export interface NewsSource<News> {
  /** What is new since it was last taken, as of now: made only when it is taken, so that nothing queues up for a slow reader. */
  take(): readonly News[];
  /** Calls `tell` whenever there may be something to take, until the signal aborts or nothing more will come. */
  watch(tell: () => void, signal: AbortSignal): Promise<void>;
}

/**
 * Several sources as one stream, each read when the reader comes back for more. It ends with the signal, when no source will tell any
 * more, or with what one of them throws; however it ends, none is watched any longer.
 */
export async function* streamNews<News>(sources: readonly NewsSource<News>[], signal: AbortSignal): AsyncGenerator<News> {
  const ending = new AbortController();
  const ended = AbortSignal.any([signal, ending.signal]);
  let told = true;
  let over = false;
  let failure: { readonly error: unknown } | null = null;
  let wake = (): void => undefined;
  const tell = (): void => {
    told = true;
    wake();
  };
  ended.addEventListener("abort", tell);
  const watching = sources.map((source) =>
    source.watch(tell, ended).catch((error: unknown) => {
      if (!ended.aborted) failure ??= { error };
      tell();
    }),
  );
  void Promise.all(watching).then(() => {
    over = true;
    tell();
  });
  const failed = (): { readonly error: unknown } | null => failure;
  try {
    while (!ended.aborted) {
      const fault = failed();
      if (fault !== null) throw fault.error;
      if (told) {
        told = false;
        for (const source of sources) yield* source.take();
      } else if (over) return;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    ending.abort();
  }
}
