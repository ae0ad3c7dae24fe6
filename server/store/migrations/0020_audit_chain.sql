ALTER TABLE `audit` ADD `outcome` text DEFAULT 'done' NOT NULL;--> statement-breakpoint
ALTER TABLE `audit` ADD `object_kind` text;--> statement-breakpoint
ALTER TABLE `audit` ADD `object_id` text;--> statement-breakpoint
ALTER TABLE `audit` ADD `cluster_id` text;--> statement-breakpoint
ALTER TABLE `audit` ADD `role` text;--> statement-breakpoint
ALTER TABLE `audit` ADD `address` text;--> statement-breakpoint
ALTER TABLE `audit` ADD `times` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `audit` ADD `hash` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX `audit_by_time` ON `audit` (`at`,`id`);--> statement-breakpoint
CREATE TRIGGER `audit_refuses_update` BEFORE UPDATE ON `audit` WHEN OLD.`hash` <> '' OR NEW.`id` <> OLD.`id`
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `audit_refuses_delete` BEFORE DELETE ON `audit`
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `audit_refuses_insert` BEFORE INSERT ON `audit` WHEN length(NEW.`hash`) <> 64 OR EXISTS (SELECT 1 FROM `audit` WHERE `id` = NEW.`id`)
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
