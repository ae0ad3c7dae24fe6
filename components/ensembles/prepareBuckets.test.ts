import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agreementSays, byAgreement, prepareBuckets, votesInWords } from "./prepareBuckets";
import { around, testReport } from "./testGate";

it("puts most agreement first, dissent after silence, and who said nothing last", () => {
  const order = ["3:0", "3", "2", "2:1", "1", "1:1", "1:1:1", "no votes"];
  fc.assert(
    fc.property(fc.shuffledSubarray(order), (votes) => {
      const sorted = votes.toSorted(byAgreement);
      expect(sorted.filter((each) => each !== "3")).toEqual(order.filter((each) => each !== "3" && votes.includes(each)));
    }),
  );
});

it("says votes in words", () => {
  const words = ["3:0", "2:1", "1:1:1", "2:2", "1", "0", "no votes"].map((votes) => votesInWords(votes, votes === "2:2" ? 4 : 3));
  expect(words).toEqual(["all 3 alike", "2 against 1", "all different", "split evenly", "a single vote", "no vote read", "no vote read"]);
});

it("calls votes unanimous only where every expert that was asked gave one", () => {
  expect(votesInWords("2:0", 2)).toBe("all 2 alike");
  expect(votesInWords("2:0", 3)).toBe("2 alike, 1 without a vote");
  expect(["1:1", "2:1"].map((votes) => votesInWords(votes, 4))).toEqual([
    "all different, 2 without a vote",
    "2 against 1, 1 without a vote",
  ]);
});

describe("a bucket", () => {
  it("says who is right more often, unless intervals meet", () => {
    expect(prepareBuckets(testReport(), 3).map(({ verdict }) => verdict?.text)).toEqual([
      "too close to tell",
      "the aggregator is better",
      "the aggregator is better",
    ]);
    const [worse] = prepareBuckets(
      {
        questions: 10,
        buckets: [{ votes: "3:0", questions: 10, leading: around(0.9), aggregator: around(0.5), expertTokens: 1 }],
      },
      3,
    );
    expect(worse?.verdict?.text).toBe("the aggregator would be worse");
  });

  it("has no verdict without an aggregator, or without a leading answer", () => {
    const buckets = [{ votes: "no votes", questions: 1, leading: null, aggregator: around(0.5), expertTokens: 1 }];
    expect(prepareBuckets({ questions: 10, buckets }, 3)[0]).toMatchObject({ verdict: null, leading: null, share: 0.1 });
  });
});

describe("whether agreement pays", () => {
  it("does where the leading answer is right more often the more agree", () => {
    const says = agreementSays(testReport());
    expect(says.pays).toBe(true);
    expect(says.sentences).toHaveLength(1);
    expect(says.sentences[0]?.text).toContain("96.0\u00a0% where votes are 3:0, on 59.1\u00a0% where they are not");
  });

  it("does not where accuracies are too close to tell", () => {
    const [most, , least] = testReport().buckets;
    if (most === undefined || least === undefined) throw new Error("the report has three buckets");
    const says = agreementSays({ buckets: [most, { ...least, leading: around(0.95), aggregator: null }] });
    expect(says.pays).toBe(false);
    expect(says.sentences[0]?.text).toContain("does not tell right answers from wrong ones");
  });

  it("does not where the aggregator is better even when all agree", () => {
    const buckets = testReport().buckets.map((bucket) => ({ ...bucket, aggregator: around(0.99, 0.005) }));
    const says = agreementSays({ buckets });
    expect(says.pays).toBe(false);
    expect(says.sentences.at(-1)?.text).toContain("every skip costs accuracy");
    // That they are right more often the more agree is no bad news beside it.
    expect(says.sentences.map(({ doubts }) => doubts)).toEqual([false, true]);
  });

  it("says that asking does not pay where the aggregator is worse even when experts are split", () => {
    const buckets = testReport().buckets.map((bucket) => ({ ...bucket, aggregator: around(0.1) }));
    expect(agreementSays({ buckets }).sentences.at(-1)?.text).toContain("asking it does not pay");
  });

  it("goes by all questions on which there is less agreement, however few share the fewest votes", () => {
    const few = { votes: "1:0", questions: 2, leading: { value: 0.5, low: 0.1, high: 0.9 }, aggregator: null, expertTokens: 1 };
    expect(agreementSays({ buckets: [...testReport().buckets, few] }).pays).toBe(true);
  });

  it("is not known of one bucket, nor of none", () => {
    expect(agreementSays({ buckets: testReport().buckets.slice(0, 1) }).pays).toBe(false);
    expect(agreementSays({ buckets: [] }).sentences[0]?.text).toContain("Nothing could be read");
  });
});
