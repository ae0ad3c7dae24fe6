/**
 * Runs `write` once for all requests of one turn of the event loop, after it: each transaction costs as much as many rows.
 *
 * @returns a function that requests it; its promise resolves when `write` has run, and rejects with its exception.
 */
export function batchedWrite(write: () => void): () => Promise<void> {
  let asked: Promise<void> | null = null;
  return () => {
    asked ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        asked = null;
        try {
          write();
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
    return asked;
  };
}
