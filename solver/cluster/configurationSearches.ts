import { SlotHeap } from "@/solver/collections/slotHeap";
import type { FoundSets, Searched } from "./clusterWorld";

/** Searches for the accurate configurations of programs, each beside the queue in which its request waits. */
export class ConfigurationSearches {
  private readonly running: SlotHeap;
  private readonly awaited: Uint8Array;

  /**
   * @param requests number of all requests.
   * @param ends when the search ends of a request that joins at a time.
   * @param found what is found for a request.
   */
  constructor(
    requests: number,
    private readonly ends: (request: number, joinsSeconds: number) => number,
    private readonly found: (request: number) => FoundSets,
  ) {
    this.running = new SlotHeap(requests);
    this.awaited = new Uint8Array(requests);
  }

  /** The end of the first search; Infinity where none runs. */
  get nextSeconds(): number {
    return this.running.leastKey;
  }

  /** The request is searched for once it joins a queue; of others what is found is known by then. */
  awaits(request: number): void {
    this.awaited[request] = 1;
  }

  /** What a request is known by when it joins a queue. */
  known(request: number): FoundSets | { readonly searching: true } {
    return this.searches(request) ? { searching: true } : this.found(request);
  }

  /** The request has joined a queue: its search begins. */
  joined(request: number, now: number): void {
    if (this.searches(request)) this.running.push(request, this.ends(request, now), request);
  }

  /** The next search that has ended by now; null where there is none. */
  take(now: number): Searched | null {
    if (this.running.leastKey > now) return null;
    const request = this.running.pop();
    this.awaited[request] = 0;
    return { request, ...this.found(request) };
  }

  private searches(request: number): boolean {
    return this.awaited[request] === 1;
  }
}
