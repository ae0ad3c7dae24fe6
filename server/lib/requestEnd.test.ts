import { describe, expect, it } from "vitest";
import { type Ending, RequestEnd } from "./requestEnd";

/** What an ending does when it is listened to, ended twice, and listened to again. */
function told(end: Ending): readonly string[] {
  const said: string[] = [];
  const gone = (): void => void said.push("removed");
  end.signal.addEventListener("abort", gone, { once: true });
  end.signal.addEventListener("abort", () => said.push(`first: ${end.signal.aborted} ${end.signal.reason}`), { once: true });
  end.signal.addEventListener("abort", () => said.push("second"), { once: true });
  end.signal.removeEventListener("abort", gone);
  end.signal.removeEventListener("abort", gone);
  end.abort("deadline");
  end.abort("client-gone");
  end.signal.addEventListener("abort", () => said.push("late"), { once: true });
  return [...said, String(end.signal.reason)];
}

describe("the end of a request", () => {
  it("tells its listeners as an abort controller does: once, in order, with the first reason", () => {
    expect(told(new RequestEnd())).toEqual(told(new AbortController()));
    expect(told(new RequestEnd())).toEqual(["first: true deadline", "second", "deadline"]);
  });

  it("is an abort signal for calls that need one, whether they ask before it or after", () => {
    const end = new RequestEnd();
    const before = end.abortSignal;
    expect(before.aborted).toBe(false);
    end.abort("deadline");
    expect([before.aborted, before.reason, end.abortSignal]).toEqual([true, "deadline", before]);
    const ended = new RequestEnd();
    ended.abort("slow-body");
    expect([ended.abortSignal.aborted, ended.abortSignal.reason]).toEqual([true, "slow-body"]);
  });
});
