/** To a worker thread: a task, or that something it said has been taken. */
export type ToThread<Task> =
  | {
      readonly kind: "task";
      readonly id: number;
      readonly task: Task;
      /** One Int32, set to 1 when no caller waits for the answer any more: a busy thread can read it. */
      readonly stop: SharedArrayBuffer;
    }
  | { readonly kind: "taken"; readonly said: number };

/** From a worker thread: once that it has started, then for each task any number of `said` and one of the others. */
export type FromThread<Answer, Said> =
  | { readonly kind: "ready" }
  | { readonly kind: "said"; readonly id: number; readonly said: number; readonly message: Said }
  | { readonly kind: "answer"; readonly id: number; readonly answer: Answer }
  | { readonly kind: "failed"; readonly id: number; readonly problem: Error };
