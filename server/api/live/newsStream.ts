/** A source whose readers want the newest state, not its full history. */
export interface NewsSource<News> {
  /** The news since the last call: created only when it is taken, so that nothing queues up for a slow reader. */
  take(): readonly News[];
  /** Calls `tell` whenever there may be something to take, until the signal aborts or the source ends. */
  watch(tell: () => void, signal: AbortSignal): Promise<void>;
}

/**
 * Several sources as one stream, each read when the reader asks for more. It ends with the signal, when all sources have ended, or with an
 * exception of one of them; in each case no source is watched any longer.
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
