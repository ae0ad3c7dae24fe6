CREATE TABLE `profile_sums` (
	`profile_id` text NOT NULL,
	`model` text NOT NULL,
	`measure_id` text NOT NULL,
	`reading` integer NOT NULL,
	`state` text NOT NULL,
	`unscored` text NOT NULL,
	`failure` text NOT NULL,
	`calls` integer NOT NULL,
	`lost` integer NOT NULL,
	`usd` real NOT NULL,
	`input_tokens` integer NOT NULL,
	`output_tokens` integer NOT NULL,
	`with_output` integer NOT NULL,
	`seconds` real NOT NULL,
	`timed` integer NOT NULL,
	`score` real NOT NULL,
	`scored` integer NOT NULL,
	`cut` integer NOT NULL,
	PRIMARY KEY(`profile_id`, `model`, `measure_id`, `reading`, `state`, `unscored`, `failure`),
	FOREIGN KEY (`profile_id`) REFERENCES `profiles`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
ALTER TABLE `profile_calls` ADD `cut` integer;--> statement-breakpoint
CREATE INDEX `kept_answers` ON `profile_calls` (`profile_id`,`measure_id`,`position`,`model`) WHERE answer is not null;
--> statement-breakpoint
CREATE TRIGGER `profile_sums_add` AFTER INSERT ON `profile_calls` BEGIN
	INSERT INTO profile_sums VALUES (
		new.profile_id, new.model, new.measure_id, new.reading, new.state, coalesce(new.unscored, ''), coalesce(new.failure, ''),
		1, new.lost, new.usd, coalesce(new.input_tokens, 0), coalesce(new.output_tokens, 0), new.output_tokens IS NOT NULL, coalesce(new.seconds, 0), new.seconds IS NOT NULL, coalesce(new.score, 0), new.score IS NOT NULL, coalesce(new.cut, 0)
	)
	ON CONFLICT DO UPDATE SET
		calls = calls + excluded.calls,
		lost = lost + excluded.lost,
		usd = usd + excluded.usd,
		input_tokens = input_tokens + excluded.input_tokens,
		output_tokens = output_tokens + excluded.output_tokens,
		with_output = with_output + excluded.with_output,
		seconds = seconds + excluded.seconds,
		timed = timed + excluded.timed,
		score = score + excluded.score,
		scored = scored + excluded.scored,
		cut = cut + excluded.cut;
END;
--> statement-breakpoint
CREATE TRIGGER `profile_sums_change` AFTER UPDATE OF profile_id, position, model, measure_id, reading, state, lost, usd, input_tokens, output_tokens, seconds, score, unscored, failure, cut ON `profile_calls` BEGIN
	UPDATE profile_sums SET
		calls = calls - 1,
		lost = lost - old.lost,
		usd = usd - old.usd,
		input_tokens = input_tokens - coalesce(old.input_tokens, 0),
		output_tokens = output_tokens - coalesce(old.output_tokens, 0),
		with_output = with_output - (old.output_tokens IS NOT NULL),
		seconds = seconds - coalesce(old.seconds, 0),
		timed = timed - (old.seconds IS NOT NULL),
		score = score - coalesce(old.score, 0),
		scored = scored - (old.score IS NOT NULL),
		cut = cut - coalesce(old.cut, 0)
	WHERE profile_id = old.profile_id AND model = old.model AND measure_id = old.measure_id AND reading = old.reading AND state = old.state AND unscored = coalesce(old.unscored, '') AND failure = coalesce(old.failure, '');
	DELETE FROM profile_sums WHERE profile_id = old.profile_id AND model = old.model AND measure_id = old.measure_id AND reading = old.reading AND state = old.state AND unscored = coalesce(old.unscored, '') AND failure = coalesce(old.failure, '') AND calls = 0;
	INSERT INTO profile_sums VALUES (
		new.profile_id, new.model, new.measure_id, new.reading, new.state, coalesce(new.unscored, ''), coalesce(new.failure, ''),
		1, new.lost, new.usd, coalesce(new.input_tokens, 0), coalesce(new.output_tokens, 0), new.output_tokens IS NOT NULL, coalesce(new.seconds, 0), new.seconds IS NOT NULL, coalesce(new.score, 0), new.score IS NOT NULL, coalesce(new.cut, 0)
	)
	ON CONFLICT DO UPDATE SET
		calls = calls + excluded.calls,
		lost = lost + excluded.lost,
		usd = usd + excluded.usd,
		input_tokens = input_tokens + excluded.input_tokens,
		output_tokens = output_tokens + excluded.output_tokens,
		with_output = with_output + excluded.with_output,
		seconds = seconds + excluded.seconds,
		timed = timed + excluded.timed,
		score = score + excluded.score,
		scored = scored + excluded.scored,
		cut = cut + excluded.cut;
END;
--> statement-breakpoint
CREATE TRIGGER `profile_sums_remove` AFTER DELETE ON `profile_calls` BEGIN
	UPDATE profile_sums SET
		calls = calls - 1,
		lost = lost - old.lost,
		usd = usd - old.usd,
		input_tokens = input_tokens - coalesce(old.input_tokens, 0),
		output_tokens = output_tokens - coalesce(old.output_tokens, 0),
		with_output = with_output - (old.output_tokens IS NOT NULL),
		seconds = seconds - coalesce(old.seconds, 0),
		timed = timed - (old.seconds IS NOT NULL),
		score = score - coalesce(old.score, 0),
		scored = scored - (old.score IS NOT NULL),
		cut = cut - coalesce(old.cut, 0)
	WHERE profile_id = old.profile_id AND model = old.model AND measure_id = old.measure_id AND reading = old.reading AND state = old.state AND unscored = coalesce(old.unscored, '') AND failure = coalesce(old.failure, '');
	DELETE FROM profile_sums WHERE profile_id = old.profile_id AND model = old.model AND measure_id = old.measure_id AND reading = old.reading AND state = old.state AND unscored = coalesce(old.unscored, '') AND failure = coalesce(old.failure, '') AND calls = 0;
END;
--> statement-breakpoint
INSERT INTO profile_sums
SELECT
	profile_id, model, measure_id, reading, state, coalesce(unscored, ''), coalesce(failure, ''),
	count(*), sum(lost), sum(usd), sum(coalesce(input_tokens, 0)), sum(coalesce(output_tokens, 0)), sum(output_tokens IS NOT NULL), sum(coalesce(seconds, 0)), sum(seconds IS NOT NULL), sum(coalesce(score, 0)), sum(score IS NOT NULL), sum(coalesce(cut, 0))
FROM profile_calls
GROUP BY 1, 2, 3, 4, 5, 6, 7;
