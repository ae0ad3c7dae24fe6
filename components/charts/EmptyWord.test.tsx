import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { EmptyWord, Seen } from "./EmptyWord";

it("gives no reason that may be an old one for a chart that is out of sight", () => {
  const word = (seen: boolean) =>
    renderToStaticMarkup(
      <Seen value={seen}>
        <EmptyWord text="No price is known of these GPUs." />
      </Seen>,
    );
  expect(word(true)).toContain("No price is known of these GPUs.");
  expect(word(false)).toContain("Drawn when it is in sight.");
  expect(word(false)).not.toContain("price");
});
