import { SlotHeap } from "@/solver/collections/slotHeap";
import type { FoundSets, Searched } from "./clusterWorld";

/** Searches for the accurate configurations of programs, each beside the queue in which its request waits. */
export class ConfigurationSearches {
  private readonly ends: SlotHeap;
  private readonly begins: Uint8Array;

  /**
   * @param requests number of all requests.
   * @param seconds length of a search; 0: what is found is known when the request joins.
   * @param found what is found for a request.
   */
  constructor(
    requests: number,
    private readonly seconds: number,
    private readonly found: (request: number) => FoundSets,
  ) {
    this.ends = new SlotHeap(requests);
    this.begins = new Uint8Array(requests);
  }

  /** The end of the first search; Infinity where none runs. */
  get nextSeconds(): number {
    return this.ends.leastKey;
  }

  /** The request begins its program: only the prompts of such requests are searched. */
  beginsProgram(request: number): void {
    this.begins[request] = 1;
  }

  /** What a request is known by when it joins a queue. */
  known(request: number): FoundSets | { readonly searching: true } {
    return this.searches(request) ? { searching: true } : this.found(request);
  }

  /** The request has joined a queue: its search begins. */
  joined(request: number, now: number): void {
    if (this.searches(request)) this.ends.push(request, now + this.seconds, request);
  }

  /** The next search that has ended by now; null where there is none. */
  take(now: number): Searched | null {
    if (this.ends.leastKey > now) return null;
    const request = this.ends.pop();
    return { request, ...this.found(request) };
  }

  private searches(request: number): boolean {
    return this.seconds > 0 && this.begins[request] === 1;
  }
}
