import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { around, testReport } from "../testing/testGate";
import { agreementSays, byAgreement, prepareBuckets, votesInWords } from "./prepareBuckets";

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
  const bucket = (votes: string, questions: number, right: number) => ({
    ...{ votes, questions, leading: around(right, 0.03), aggregator: null, expertTokens: 1 },
  });
  const doubtful = (buckets: Parameters<typeof agreementSays>[0]["buckets"]) => agreementSays({ buckets }).filter(({ doubts }) => doubts);

  it("does where the leading answer is right more often the more agree", () => {
    const says = agreementSays(testReport());
    expect(says).toHaveLength(1);
    expect(says[0]?.doubts).toBe(false);
    expect(says[0]?.text).toContain("right on 96.0\u00a0% where 3 experts agree, and on 59.1\u00a0% where fewer do");
  });

  it("goes by what parts the questions evenly, however few are the ones on which all agree", () => {
    const many = [
      bucket("9", 12, 1),
      bucket("7:2", 140, 0.98),
      bucket("5:4", 80, 0.67),
      bucket("4:4:1", 40, 0.38),
      bucket("3:3:2:1", 28, 0),
    ];
    const [says] = agreementSays({ buckets: many });
    expect(says?.doubts).toBe(false);
    expect(says?.text).toMatch(/right on 9\d\.\d\u00a0% where 7 experts or more agree, and on 4\d\.\d\u00a0% where fewer do/);
  });

  it("does not where accuracies are too close to tell", () => {
    const says = doubtful([bucket("3:0", 450, 0.96), bucket("1:1:1", 150, 0.95)]);
    expect(says[0]?.text).toContain("does not distinguish right from wrong answers");
  });

  it("does not where the aggregator is better even when all agree", () => {
    const says = agreementSays({ buckets: testReport().buckets.map((each) => ({ ...each, aggregator: around(1, 0) })) });
    expect(says.at(-1)?.text).toContain("every skip costs accuracy");
    // Higher accuracy with more agreement does not contradict this.
    expect(says.map(({ doubts }) => doubts)).toEqual([false, true]);
  });

  it("says that asking does not pay where the aggregator is worse even when experts are split", () => {
    const buckets = testReport().buckets.map((each) => ({ ...each, aggregator: around(0.1) }));
    expect(agreementSays({ buckets }).at(-1)?.text).toContain("Where fewer than 3 experts agree");
  });

  it("is not known where as many agree on all questions, nor where none do", () => {
    expect(doubtful([bucket("2:1", 40, 0.7), bucket("2", 10, 0.6)])[0]?.text).toContain("The same number of experts, 2, agrees");
    expect(doubtful([bucket("1:1", 40, 0.7)])[0]?.text).toContain("No two experts agree");
    expect(doubtful([])[0]?.text).toContain("No vote could be read");
  });
});
