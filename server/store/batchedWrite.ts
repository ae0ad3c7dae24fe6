/**
 * Has `write` run once for all that is asked for in one turn of the event loop, after it: each transaction costs as much as many rows.
 *
 * @returns a function that asks for it; its promise resolves when `write` has run, and rejects with what that throws.
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
