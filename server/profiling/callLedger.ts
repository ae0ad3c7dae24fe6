/** What a profile is made of, in numbers. */
export interface CallShape {
  readonly prompts: number;
  /** Every prompt's position once, in the order in which they are asked. */
  readonly order: Int32Array;
  /** For each model, the lane of its answers. */
  readonly models: readonly { readonly lane: number }[];
  /**
   * For each measure: readings per answer, their lane (null: that of the model that answered), and the model whose answer they need in
   * addition.
   */
  readonly measures: readonly { readonly readings: number; readonly lane: number | null; readonly against: number | null }[];
  /** Calls at once in each lane. */
  readonly lanes: readonly { readonly limit: number }[];
}

/** One call: an answer where `measure` is null, else a reading of that answer. */
export interface LedgerCall {
  readonly id: number;
  readonly position: number;
  readonly model: number;
  readonly measure: number | null;
  readonly reading: number;
}

interface Counts {
  planned: number;
  done: number;
  failed: number;
}

const [TO_DO, UNDER_WAY, DONE, FAILED] = [0, 1, 2, 3];

/** A queue that is read from its front without moving the rest. */
class Line {
  #items: number[] = [];
  #head = 0;

  push(id: number): void {
    this.#items.push(id);
  }

  shift(): number | undefined {
    const id = this.#items[this.#head];
    if (id === undefined) return undefined;
    this.#head += 1;
    if (this.#head > 4096) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return id;
  }
}

interface LaneCalls {
  readonly readings: Line;
  readonly back: Line;
  underWay: number;
  /** Calls that are not over. */
  left: number;
}

/**
 * The pending, running and ended calls of a profile, and the next one. Readings of an answer are made once the answer exists, and before
 * further answers: texts are kept no longer than necessary. It has no clock and does nothing by itself.
 */
export class CallLedger {
  readonly #shape: CallShape;
  readonly #perAnswer: number;
  /** Of each reading of an answer, its measure. */
  readonly #measureOf: readonly number[];
  readonly #firstOf: readonly number[];
  readonly #state: Uint8Array;
  readonly #lanes: readonly LaneCalls[];
  /** For each model, the first position of the order that was not examined yet. */
  readonly #cursor: number[];
  readonly models: readonly Counts[];
  readonly measures: readonly Counts[];
  #open: number;

  constructor(shape: CallShape) {
    this.#shape = shape;
    this.#measureOf = shape.measures.flatMap(({ readings }, measure) => Array.from({ length: readings }, () => measure));
    this.#firstOf = shape.measures.map((_, measure) => 1 + this.#measureOf.indexOf(measure));
    this.#perAnswer = 1 + this.#measureOf.length;
    const answers = shape.prompts * shape.models.length;
    this.#state = new Uint8Array(answers * this.#perAnswer);
    this.#lanes = shape.lanes.map(() => ({ readings: new Line(), back: new Line(), underWay: 0, left: 0 }));
    this.#cursor = shape.models.map(() => 0);
    this.models = shape.models.map(() => ({ planned: shape.prompts, done: 0, failed: 0 }));
    this.measures = shape.measures.map(({ readings }) => ({ planned: answers * readings, done: 0, failed: 0 }));
    this.#open = this.#state.length;
    for (const { lane } of shape.models) this.#leave(lane, shape.prompts);
    for (const { lane, readings } of shape.measures)
      for (const own of shape.models) this.#leave(lane ?? own.lane, shape.prompts * readings);
  }

  /** Whether every call has ended. */
  get isOver(): boolean {
    return this.#open === 0;
  }

  underWay(lane: number): number {
    return this.#lanes[lane]?.underWay ?? 0;
  }

  /** Calls of a lane that are not over. */
  left(lane: number): number {
    return this.#lanes[lane]?.left ?? 0;
  }

  /** The lane in which a call is made. */
  laneAt({ model, measure }: Pick<LedgerCall, "model" | "measure">): number {
    const { models, measures } = this.#shape;
    return (measure === null ? null : measures[measure]?.lane) ?? models[model]?.lane ?? -1;
  }

  idOf({ position, model, measure, reading }: Omit<LedgerCall, "id">): number {
    const place = position * this.#shape.models.length + model;
    return place * this.#perAnswer + (measure === null ? 0 : (this.#firstOf[measure] ?? 0) + reading);
  }

  callOf(id: number): LedgerCall {
    const [place, within] = [Math.floor(id / this.#perAnswer), id % this.#perAnswer];
    const models = this.#shape.models.length;
    const measure = within === 0 ? null : (this.#measureOf[within - 1] ?? 0);
    const reading = measure === null ? 0 : within - (this.#firstOf[measure] ?? 0);
    return { id, position: Math.floor(place / models), model: place % models, measure, reading };
  }

  /** Records what was over before. Answers before their readings, and all before the first `take`. */
  restore(call: Omit<LedgerCall, "id">, how: "done" | "failed"): void {
    this.#close(this.idOf(call), how);
  }

  /** The next call of a lane, which counts as in flight from now on; null if it has none, or is at its limit. */
  take(lane: number): LedgerCall | null {
    const own = this.#lanes[lane];
    if (own === undefined || own.underWay >= (this.#shape.lanes[lane]?.limit ?? 0)) return null;
    const id = this.#nextOf(own.back) ?? this.#nextOf(own.readings) ?? this.#nextAnswer(lane);
    if (id === undefined) return null;
    own.underWay += 1;
    this.#state[id] = UNDER_WAY;
    return this.callOf(id);
  }

  /** A call that was taken is no longer in flight; it is taken again before others once it was given back. */
  leave(id: number): void {
    this.#laneOf(id).underWay -= 1;
    this.#state[id] = TO_DO;
  }

  giveBack(id: number): void {
    this.#laneOf(id).back.push(id);
  }

  /** A call that was taken has ended. */
  end(id: number, how: "done" | "failed"): void {
    this.#laneOf(id).underWay -= 1;
    this.#close(id, how);
  }

  /** Whether no pending reading needs an answer, for itself or in a comparison. */
  isRead(position: number, model: number): boolean {
    const first = this.idOf({ position, model, measure: null, reading: 0 });
    for (let id = first + 1; id < first + this.#perAnswer; id += 1) if (this.#isOpen(id)) return false;
    const { measures, models } = this.#shape;
    return measures.every(
      ({ against, readings }, measure) =>
        against !== model ||
        models.every((_, other) => {
          const reads = this.idOf({ position, model: other, measure, reading: 0 });
          return Array.from({ length: readings }, (_, reading) => reads + reading).every((id) => !this.#isOpen(id));
        }),
    );
  }

  #isOpen(id: number): boolean {
    return this.#state[id] === TO_DO || this.#state[id] === UNDER_WAY;
  }

  #leave(at: number, calls: number): void {
    const lane = this.#lanes[at];
    if (lane !== undefined) lane.left += calls;
  }

  #laneOf(id: number): LaneCalls {
    const lane = this.#lanes[this.laneAt(this.callOf(id))];
    if (lane === undefined) throw new RangeError(`There is no lane for call ${id}`);
    return lane;
  }

  #nextOf(line: Line): number | undefined {
    let id = line.shift();
    while (id !== undefined && this.#state[id] !== TO_DO) id = line.shift();
    return id;
  }

  #nextAnswer(lane: number): number | undefined {
    const { models, order } = this.#shape;
    for (const [model, { lane: own }] of models.entries()) {
      if (own !== lane) continue;
      for (let at = this.#cursor[model] ?? 0; at < order.length; at += 1) {
        this.#cursor[model] = at + 1;
        const position = order[at] ?? 0;
        const id = this.idOf({ position, model, measure: null, reading: 0 });
        if (this.#state[id] === TO_DO) return id;
      }
    }
    return undefined;
  }

  #close(id: number, how: "done" | "failed"): void {
    if (!this.#isOpen(id)) return;
    const { position, model, measure } = this.callOf(id);
    this.#state[id] = how === "done" ? DONE : FAILED;
    this.#open -= 1;
    this.#laneOf(id).left -= 1;
    const counts = measure === null ? this.models[model] : this.measures[measure];
    if (counts !== undefined) counts[how] += 1;
    if (measure === null) this.#answered(position, model);
  }

  /** An answer exists, or never will: its readings, and those of comparisons with it, become possible or impossible. */
  #answered(position: number, model: number): void {
    for (const [measure, { against }] of this.#shape.measures.entries()) {
      if (against !== model) this.#tryReadings(position, model, measure);
      else for (const other of this.#shape.models.keys()) this.#tryReadings(position, other, measure);
    }
  }

  #tryReadings(position: number, model: number, measure: number): void {
    const { against, readings } = this.#shape.measures[measure] ?? { against: null, readings: 0 };
    const answers = [model, against ?? model].map((of) => this.#state[this.idOf({ position, model: of, measure: null, reading: 0 })]);
    const first = this.idOf({ position, model, measure, reading: 0 });
    for (let id = first; id < first + readings; id += 1) {
      if (answers.includes(FAILED)) this.#close(id, "failed");
      else if (answers.every((state) => state === DONE) && this.#state[id] === TO_DO) this.#laneOf(id).readings.push(id);
    }
  }
}
