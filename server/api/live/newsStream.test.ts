import { describe, expect, it } from "vitest";
import { type NewsSource, streamNews } from "./newsStream";

/** A source whose newest item is set by a test. */
function said() {
  let word: string | null = null;
  let tellAll = (): void => undefined;
  const one = {
    ended: false,
    say(next: string) {
      word = next;
      tellAll();
    },
    source: {
      take() {
        const taken = word;
        word = null;
        return taken === null ? [] : [taken];
      },
      watch(tell, signal) {
        tellAll = tell;
        return new Promise((resolve) =>
          signal.addEventListener("abort", () => {
            one.ended = true;
            resolve();
          }),
        );
      },
    } satisfies NewsSource<string>,
  };
  return one;
}

const quiet: NewsSource<string> = { take: () => [], watch: async () => undefined };
const never = new AbortController().signal;

describe("a stream of news", () => {
  it("gives what there is at once, in the order of its sources, then what each tells", async () => {
    const [one, other] = [said(), said()];
    one.say("a");
    other.say("b");
    const stream = streamNews([one.source, other.source], never);
    expect([(await stream.next()).value, (await stream.next()).value]).toEqual(["a", "b"]);
    const next = stream.next();
    other.say("c");
    expect((await next).value).toBe("c");
    await stream.return(undefined);
  });

  it("gives a reader that was away the newest and nothing in between", async () => {
    const one = said();
    const stream = streamNews([one.source], never);
    one.say("first");
    expect((await stream.next()).value).toBe("first");
    for (let count = 0; count < 1_000; count += 1) one.say(String(count));
    expect((await stream.next()).value).toBe("999");
    const next = stream.next();
    one.say("last");
    expect((await next).value).toBe("last");
    await stream.return(undefined);
  });

  it("ends with its signal, also while it waits, and watches no longer", async () => {
    const one = said();
    const ending = new AbortController();
    const stream = streamNews([one.source], ending.signal);
    const next = stream.next();
    ending.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(one.ended).toBe(true);
  });

  it("watches no longer once its reader has gone", async () => {
    const one = said();
    one.say("a");
    for await (const _ of streamNews([one.source], never)) break;
    expect(one.ended).toBe(true);
  });

  it("ends when no source will tell any more, after all was given", async () => {
    let word: string | null = "only";
    const once: NewsSource<string> = {
      take() {
        const taken = word;
        word = null;
        return taken === null ? [] : [taken];
      },
      watch: async () => undefined,
    };
    const given: string[] = [];
    for await (const news of streamNews([once, quiet], never)) given.push(news);
    expect(given).toEqual(["only"]);
  });

  it("fails with what a source fails with, and lets go of the others", async () => {
    const one = said();
    const broken: NewsSource<string> = { take: () => [], watch: () => Promise.reject(new Error("the disk is gone")) };
    await expect(streamNews([one.source, broken], never).next()).rejects.toThrow("the disk is gone");
    expect(one.ended).toBe(true);
  });
});
