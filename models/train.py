"""Train one of the two arithmetic models and write its weights at trained depth.

    python models/train.py arith-small models/arith-small
    python models/train.py arith-large models/arith-large

Prints the loss while it trains, then the share of right answers per kind of
question and the AUC of the smallest token probability, in percent, in single
precision and after rounding to half precision. A model
that misses its target is not written, except with --any. models/README.md says
the rest.
"""

import argparse
import json
import pathlib
import random
import time
from collections import defaultdict
from dataclasses import dataclass, replace

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM


@dataclass(frozen=True)
class Recipe:
    width: int
    layers: int
    steps: int
    peak_rate: float
    seed: int
    target: tuple[float, float]


RECIPES = {
    "arith-small": Recipe(64, 2, 3_500, 2e-3, 15, (0.40, 0.70)),
    "arith-large": Recipe(128, 4, 5_000, 1.5e-3, 12, (0.98, 1.0)),
}

BEGIN, END, PAD = 0, 1, 2
CHARACTERS = [chr(code) for code in range(32, 127)] + ["\n"]
TOKEN_OF = {character: 3 + i for i, character in enumerate(CHARACTERS)}
BATCH = 128
WARM_UP_STEPS = 200
HEAD_WIDTH = 32
LONGEST_ANSWER = 8
IGNORED = -100

# Shares of the kinds in twelfths; solver/prompts/arithmeticQuestion.ts draws the same mix.
KINDS = {"add1": 1, "add2": 3, "add3": 3, "sub2": 2, "mul1": 1, "max3": 1, "rev4": 1}


def number(draw, digits):
    return draw.randrange(10 ** (digits - 1), 10**digits)


def question(draw):
    """One question: its kind, its text and the right answer."""
    kind = draw.choices(list(KINDS), list(KINDS.values()))[0]
    if kind == "rev4":
        text = str(number(draw, 4))
        return kind, f"rev {text}", text[::-1]
    if kind == "max3":
        values = [number(draw, 2) for _ in range(3)]
        return kind, "max " + " ".join(map(str, values)), str(max(values))
    digits = int(kind[3])
    left, right = number(draw, digits), number(draw, digits)
    sign, answer = {
        "add": ("+", left + right),
        "sub": ("-", left - right),
        "mul": ("*", left * right),
    }[kind[:3]]
    return kind, f"{left}{sign}{right}", str(answer)


def prompt_tokens(text):
    return [BEGIN] + [TOKEN_OF[character] for character in text + "\n"]


def answer_tokens(text):
    return [TOKEN_OF[character] for character in text] + [END]


def training_batch(draw):
    rows = []
    for _ in range(BATCH):
        _, text, answer = question(draw)
        rows.append((prompt_tokens(text), answer_tokens(answer)))
    longest = max(len(prompt) + len(answer) for prompt, answer in rows)
    tokens = torch.full((BATCH, longest), PAD)
    labels = torch.full((BATCH, longest), IGNORED)
    for i, (prompt, answer) in enumerate(rows):
        end = len(prompt) + len(answer)
        tokens[i, :end] = torch.tensor(prompt + answer)
        labels[i, len(prompt) : end] = torch.tensor(answer)
    return tokens, labels


def configuration(recipe):
    heads = recipe.width // HEAD_WIDTH
    return LlamaConfig(
        vocab_size=3 + len(CHARACTERS),
        hidden_size=recipe.width,
        intermediate_size=3 * recipe.width,
        num_hidden_layers=recipe.layers,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        head_dim=HEAD_WIDTH,
        max_position_embeddings=2048,
        bos_token_id=BEGIN,
        eos_token_id=END,
        pad_token_id=PAD,
        tie_word_embeddings=False,
    )


def train(recipe):
    torch.manual_seed(recipe.seed)
    draw = random.Random(recipe.seed)
    model = LlamaForCausalLM(configuration(recipe))
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
    started = time.monotonic()
    for step in range(recipe.steps):
        warm_up = min(1.0, (step + 1) / WARM_UP_STEPS)
        decay = max(0.02, 1 - step / recipe.steps)
        for group in optimizer.param_groups:
            group["lr"] = recipe.peak_rate * warm_up * decay
        tokens, labels = training_batch(draw)
        loss = model(input_ids=tokens, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 500 == 499:
            print(f"step {step + 1}: loss {loss.item():.4f}, {time.monotonic() - started:.0f} s", flush=True)
    return model.eval()


@torch.no_grad()
def answers(model, texts):
    """Text -> greedy answer and the smallest probability of its tokens, end included; all texts of one length in one batch."""
    by_length = defaultdict(list)
    for text in texts:
        by_length[len(text)].append(text)
    found = {}
    for group in by_length.values():
        tokens = torch.tensor([prompt_tokens(text) for text in group])
        start = tokens.shape[1]
        smallest = torch.ones(len(group))
        ended = torch.zeros(len(group), dtype=torch.bool)
        for _ in range(LONGEST_ANSWER):
            probability, best = model(input_ids=tokens).logits[:, -1].softmax(-1).max(-1)
            smallest = torch.where(ended, smallest, torch.minimum(smallest, probability))
            ended |= best == END
            tokens = torch.cat([tokens, best[:, None]], dim=1)
        for text, row, confidence in zip(group, tokens[:, start:].tolist(), smallest.tolist()):
            row = row[: row.index(END)] if END in row else row
            found[text] = "".join(CHARACTERS[t - 3] if t > PAD else "?" for t in row), confidence
    return found


def accuracy(model, count, seed):
    """Kind -> share of right answers; `AUC`: how well the smallest probability tells right answers from wrong ones."""
    draw = random.Random(seed)
    asked = [question(draw) for _ in range(count)]
    found = answers(model, [text for _, text, _ in asked])
    right = defaultdict(list)
    for kind, text, answer in asked:
        right[kind].append(found[text][0] == answer)
    shares = {kind: sum(right[kind]) / max(1, len(right[kind])) for kind in KINDS}
    of_right = torch.tensor([found[text][1] for _, text, answer in asked if found[text][0] == answer])
    of_wrong = torch.tensor([found[text][1] for _, text, answer in asked if found[text][0] != answer])
    difference = of_right[:, None] - of_wrong[None, :]
    area = (difference > 0).double().mean() + (difference == 0).double().mean() / 2
    return {**shares, "all": len(of_right) / count, "AUC": area.item()}


def report(title, shares):
    print(title, " ".join(f"{kind} {100 * share:.1f}" for kind, share in shares.items()), flush=True)


def write(model, recipe, folder):
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: tensor.half().contiguous() for name, tensor in model.state_dict().items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    head = configuration(recipe)
    kept = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "rms_norm_eps": head.rms_norm_eps,
        "rope_theta": 10000.0,
        "torch_dtype": "float16",
        **{
            name: getattr(head, name)
            for name in (
                "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads "
                "num_key_value_heads head_dim max_position_embeddings bos_token_id eos_token_id "
                "pad_token_id tie_word_embeddings"
            ).split()
        },
    }
    (folder / "config.json").write_text(json.dumps(kept, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=RECIPES)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, help="seed of weights and questions, instead of the recipe's")
    parser.add_argument("--steps", type=int, help="training steps, instead of the recipe's")
    parser.add_argument("--any", action="store_true", help="write a model that misses its target too")
    parser.add_argument("--questions", type=int, default=1200, help="questions of the check (1200)")
    parsed = parser.parse_args()
    recipe = RECIPES[parsed.model]
    given = {name: value for name in ("seed", "steps") if (value := getattr(parsed, name)) is not None}
    recipe = replace(recipe, **given)
    torch.set_num_threads(1)
    model = train(recipe)
    report("single precision, %:", accuracy(model, parsed.questions, seed=999))
    model.load_state_dict({name: tensor.half().float() for name, tensor in model.state_dict().items()})
    shares = accuracy(model, parsed.questions, seed=999)
    report("half precision, %:  ", shares)
    low, high = recipe.target
    if not parsed.any and not low <= shares["all"] <= high:
        raise SystemExit(f"{100 * shares['all']:.1f} % of the answers are right; the target is {100 * low:.0f} to {100 * high:.0f} %.")
    write(model, recipe, parsed.folder)


if __name__ == "__main__":
    main()
