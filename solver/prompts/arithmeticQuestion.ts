import { mixSeed, type Random, seededRandom } from "../numeric/random";

/** Kinds of questions and the share of each in twelfths; `models/train.py` draws the same mix. */
const SHARES = { add1: 1, add2: 3, add3: 3, sub2: 2, mul1: 1, max3: 1, rev4: 1 } as const;

export type QuestionKind = keyof typeof SHARES;

/** A question of arithmetic that the real models are trained on. */
export interface ArithmeticQuestion {
  /** `add2`: a sum of numbers of two digits; `max3`: the largest of three numbers; `rev4`: four digits reversed. */
  readonly kind: QuestionKind;
  readonly text: string;
  /** The right answer, the whole of it. */
  readonly answer: string;
}

const kindOfTwelfth = (Object.keys(SHARES) as QuestionKind[]).flatMap((kind) => Array<QuestionKind>(SHARES[kind]).fill(kind));

/**
 * Questions in the mix that the real models are trained on. The same seed gives the same questions, and more of them begin with fewer.
 *
 * @param seed any finite number.
 */
export function arithmeticQuestions(count: number, seed: number): readonly ArithmeticQuestion[] {
  const random = seededRandom(mixSeed(seed, "arithmetic questions"));
  return Array.from({ length: count }, () => drawQuestion(random));
}

/** More than the longest answer takes, the end included: a model that does not end is stopped there. */
const MOST_ANSWER_TOKENS = 16;

/**
 * Questions as JSON lines in the form of a prompts file: a chat, its kind as category, and the right answer as reference, by which a
 * profile labels answers.
 */
export function arithmeticPrompts(questions: readonly ArithmeticQuestion[]): string {
  return questions
    .map(({ kind, text, answer }, at) => {
      const messages = [{ role: "user", content: text }];
      const line = { id: `q-${at + 1}`, category: kind, messages, reference: answer, temperature: 0, max_tokens: MOST_ANSWER_TOKENS };
      return `${JSON.stringify(line)}\n`;
    })
    .join("");
}

function drawQuestion(random: Random): ArithmeticQuestion {
  const kind = kindOfTwelfth[random.int(kindOfTwelfth.length)] ?? "add1";
  const number = (digits: number): number => {
    const least = 10 ** (digits - 1);
    return least + random.int(9 * least);
  };
  switch (kind) {
    case "add1":
    case "add2":
    case "add3": {
      const digits = Number(kind[3]);
      const [left, right] = [number(digits), number(digits)];
      return { kind, text: `${left}+${right}`, answer: String(left + right) };
    }
    case "sub2": {
      const [left, right] = [number(2), number(2)];
      return { kind, text: `${left}-${right}`, answer: String(left - right) };
    }
    case "mul1": {
      const [left, right] = [number(1), number(1)];
      return { kind, text: `${left}*${right}`, answer: String(left * right) };
    }
    case "max3": {
      const values = [number(2), number(2), number(2)];
      return { kind, text: `max ${values.join(" ")}`, answer: String(Math.max(...values)) };
    }
    case "rev4": {
      const text = String(number(4));
      return { kind, text: `rev ${text}`, answer: text.split("").reverse().join("") };
    }
  }
}
