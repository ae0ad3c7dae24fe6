CREATE TABLE `answer_labels` (
	`cluster_id` text NOT NULL,
	`decision_id` text NOT NULL,
	`model` text NOT NULL,
	`plan_id` text NOT NULL,
	`raw` text NOT NULL,
	`quality` real NOT NULL,
	`actor` text NOT NULL,
	`at` text NOT NULL,
	PRIMARY KEY(`cluster_id`, `decision_id`, `model`)
);
