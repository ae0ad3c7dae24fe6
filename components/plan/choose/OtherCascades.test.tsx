import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { OtherCascades } from "./OtherCascades";

const lost = { stages: ["a", "b"], thresholds: [84], quality: 80, p95Seconds: 2, gpus: 4, reason: "2.00 s by the tables" };
const drawn = (chosen: boolean) => renderToStaticMarkup(<OtherCascades alternatives={[lost]} chosen={chosen} onChoose={() => undefined} />);

it("makes each cascade that lost a button, with why it lost", () => {
  expect(drawn(false)).toContain("1 rejected cascade");
  expect(/<button[^>]*>(.*?)<\/button>/s.exec(drawn(false))?.[1]).toMatch(/a → b.*at 84.*2\.00 s by the tables/s);
});

it("does not say that cascades lost against one that was chosen by hand", () => {
  expect(drawn(true)).toContain("1 other cascade");
  expect(drawn(true)).not.toContain("rejected");
});
