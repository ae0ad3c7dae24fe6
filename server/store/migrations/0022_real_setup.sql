CREATE TABLE `real_setups` (
	`id` integer PRIMARY KEY NOT NULL,
	`record` text NOT NULL
);
