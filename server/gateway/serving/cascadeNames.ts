import { defaultCascade } from "@/server/contracts/gateway/gatewayAdmin";

/** Earlier cascades whose names are still served: as many as an operator tries in a day, so that the list stays bounded. */
const keptNames = 8;

/** The name of the virtual model of a configuration called `name`. */
export function cascadeName(name: string): string {
  return `cascade/${name}`;
}

/** Names of configurations under which clients reach the cascade in force, whichever that is. */
export class CascadeNames {
  /** Newest first. */
  #names: readonly string[] = [];

  /** Whether a model by this name is the cascade in force. */
  mean(model: string): boolean {
    return model === defaultCascade || this.#names.some((name) => cascadeName(name) === model);
  }

  /** The earlier names, newest first, once a configuration of the name `next` is in force. */
  earlierUnder(next: string): readonly string[] {
    return [...new Set(this.#names)].filter((name) => name !== next).slice(0, keptNames);
  }

  use(current: string, earlier: readonly string[]): void {
    this.#names = [current, ...earlier];
  }
}
