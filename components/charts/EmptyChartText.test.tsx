import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { EmptyChartText, Seen } from "./EmptyChartText";

it("gives no reason that may be an old one for a chart that is out of sight", () => {
  const word = (seen: boolean) =>
    renderToStaticMarkup(
      <Seen value={seen}>
        <EmptyChartText text="No price is known of these GPUs." />
      </Seen>,
    );
  expect(word(true)).toContain("No price is known of these GPUs.");
  expect(word(false)).toContain("Loading…");
  expect(word(false)).not.toContain("price");
});
