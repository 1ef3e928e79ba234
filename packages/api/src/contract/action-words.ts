import type { ActionState } from './action-state.ts'

/*
 * Words for kinds, phases, waits and steps of actions, for the API, the command line and the console;
 * docs/reference/actions.md is printed from them. Records have the codes, so none changes its meaning or is
 * removed.
 */

/** A code's text and meaning for people. */
interface Words {
  /** For a headline or a cell. */
  readonly label: string
  readonly meaning: string
}

/** Kinds of actions: `name`, with a short code for metrics and the command line. */
export const actionKinds = {
  SMCreateBDB: { kind: 'create', label: 'Creation', meaning: 'A database is created' },
  SMUpgradeBDB: {
    kind: 'upgrade',
    label: 'Upgrade',
    meaning:
      'The shards of a database are replaced or restarted: for another build, for other modules, or unchanged',
  },
  SMUpdateBDB: {
    kind: 'change',
    label: 'Change',
    meaning: 'A database gets or loses replicas, or saves its data in another way, while it serves',
  },
  SMDeleteBDB: { kind: 'delete', label: 'Deletion', meaning: 'A database ends, with its data' },
  SMUploadModule: {
    kind: 'upload_module',
    label: 'Upload of a module',
    meaning: 'A package is checked, and comes into the catalogue',
  },
  SMDeleteModule: {
    kind: 'delete_module',
    label: 'Deletion of a module',
    meaning: 'A module leaves the catalogue',
  },
} as const satisfies Readonly<Record<string, Words & { readonly kind: string }>>
/** `name` of an action. */
export type ActionKind = keyof typeof actionKinds

/** Phases: an action is in exactly one. */
export const actionPhases = {
  queued: {
    label: 'Waits for its turn',
    meaning: 'Accepted. Other upgrades go first, or the first look is about to come',
  },
  preparing: {
    label: 'Prepares the new shards',
    meaning:
      'New shards start and receive the data, and no role moves now. In a sharded database some groups may have handed over already: see the lanes',
  },
  ready: {
    label: 'Ready for your go',
    meaning:
      'The upgrade is supervised, and no role moves before a user resumes it. `waiting` names the groups that are ready: with a canary, that one only',
  },
  handing_over: { label: 'Hands over', meaning: 'The primary role of a group moves, or is about to' },
  window: {
    label: 'Served by the new build; the way back is kept',
    meaning:
      'Every group has handed over. The old primaries stay as standbys until the window ends, or until a user finalizes',
  },
  finishing: {
    label: 'Finishes',
    meaning:
      'Every group has handed over, and nothing holds back the rest: the other shards are upgraded, and surplus ones leave',
  },
  paused: {
    label: 'Paused',
    meaning:
      'A user has paused it. Nothing new begins. Faults are still repaired, and a handover that has begun is completed',
  },
  stuck: { label: 'Cannot go on', meaning: 'Nothing can be done until a person removes the obstacle' },
  undoing: {
    label: 'Is taken back',
    meaning: 'It undoes what it began, and will end as rolled back, cancelled or failed',
  },
  ended: { label: 'Ended', meaning: 'Nothing of it changes any more: `outcome` has the result' },
} as const satisfies Readonly<Record<string, Words>>
/** `phase` of an action. */
export type ActionPhase = keyof typeof actionPhases

/** How an action ended. */
export const actionOutcomes = {
  completed: { label: 'Completed', meaning: 'The goal is reached' },
  rolled_back: {
    label: 'Rolled back',
    meaning: 'A user ordered `rollback`: the database is as before',
  },
  cancelled: { label: 'Cancelled', meaning: 'A user ordered `cancel`: the database is as before' },
  failed: {
    label: 'Failed',
    meaning: 'Fairlead gave it up: the database is as before, or could not be created',
  },
} as const satisfies Readonly<Record<string, Words>>
/** `outcome` of an action that has ended. */
export type ActionOutcome = keyof typeof actionOutcomes

/** Kinds of waits. */
export const waitsOn = {
  person: {
    label: 'Waits for a person',
    meaning: 'It continues when a user gives an order, or removes the obstacle',
  },
  time: { label: 'Waits for a time', meaning: 'It continues automatically: at `until`, or at the next try' },
  group: { label: 'Waits for other groups', meaning: 'Other groups of the database go first' },
  capacity: {
    label: 'Waits for room',
    meaning: 'Memory, disk, or the number of simultaneous upgrades or shards',
  },
  shard: {
    label: 'Waits for a shard',
    meaning: '`shard` has to answer, load, receive its data, write a file, or let clients go',
  },
} as const satisfies Readonly<Record<string, Words>>
/** `on` of an action's wait. */
export type WaitsOn = keyof typeof waitsOn

/** Duties of a shard in its group. */
export const shardDuties = {
  primary: { label: 'primary', meaning: 'It serves the group' },
  replica: { label: 'replica', meaning: 'It follows the primary' },
  surge: {
    label: 'surge',
    meaning: 'It was added for the upgrade, and takes the role over when it is ready',
  },
  standby: { label: 'standby', meaning: 'It was primary before the upgrade, and could take the role back' },
  leaving: { label: 'leaving', meaning: 'It is being removed' },
} as const satisfies Readonly<Record<string, Words>>
/** `role` of a shard in a lane. */
export type ShardDuty = keyof typeof shardDuties

/** The orders that a user may give, as labels of buttons. */
export const orderWords = {
  pause: { label: 'Pause', meaning: 'Begin nothing new' },
  resume: {
    label: 'Resume',
    meaning:
      'Continue after a pause, or after the stop of a supervised upgrade. Given before that stop, it removes the stop',
  },
  cancel: { label: 'Cancel', meaning: 'Take the upgrade back' },
  rollback: {
    label: 'Roll back',
    meaning: 'Hand the roles back to the old primaries',
  },
  finalize: { label: 'Finalize', meaning: 'Give up the way back' },
  redo: {
    label: 'Go on with the upgrade',
    meaning: 'Turn a rollback forward again: the upgrade continues to its goal',
  },
  retry: {
    label: 'Try again',
    meaning: 'Try the blocked step immediately; for a failed upgrade: begin it again',
  },
} as const satisfies Readonly<Record<string, Words>>
/** The name of an order. */
export type OrderName = keyof typeof orderWords

/** `op_name` of a step. */
export type StepName = Exclude<ActionState, '' | 'wait' | 'hold' | 'stuck' | 'hopeless' | 'done'>

/** Steps of a lane, as actions. */
export const stepWords = {
  'add-shard': { label: 'Add a shard', meaning: 'A new shard gets a place and a number' },
  'start-shard': {
    label: 'Start the shard',
    meaning: 'Its process starts again, with its intended version and modules',
  },
  'restart-shard': {
    label: 'Restart the replica',
    meaning:
      'A replica starts again with the version and the modules of the goal; when the upgrade is taken back, with the former ones',
  },
  'restart-primary': {
    label: 'Restart the only shard',
    meaning:
      'The only shard of the group starts again with the version and the modules of the goal. The group does not serve during that time',
  },
  'retire-shard': { label: 'Retire the shard', meaning: 'Its process ends, and its folder is removed' },
  'end-process': {
    label: 'End the hung process',
    meaning: 'A process that does not answer any more is ended',
  },
  follow: { label: 'Follow the primary', meaning: 'The shard gets the order to follow the primary' },
  promote: { label: 'Promote a replica', meaning: 'A replica takes the place of a primary that is gone' },
  'take-back': {
    label: 'Take slots back',
    meaning: 'Slots that a node outside the database claims are taken back',
  },
  fence: {
    label: 'Stop writes',
    meaning: 'Two shards take writes, and neither may until a person has decided',
  },
  'enable-aof': {
    label: 'Switch on the append-only file',
    meaning: 'From then on each write goes to disk, too',
  },
  'save-snapshot': { label: 'Save a snapshot', meaning: 'The data is written to disk' },
  'hand-over': { label: 'Hand over', meaning: 'The primary role moves to another shard, without loss' },
  'release-handover': {
    label: 'Let clients go on',
    meaning: 'Clients and writes that an interrupted handover had stopped continue',
  },
  'seal-handover': {
    label: 'Complete the certificate',
    meaning: 'Full syncs that the handover caused are counted',
  },
  'record-primary': {
    label: 'Record which shard is the primary',
    meaning: 'The records name the shard that serves',
  },
  'record-follows': {
    label: 'Record which primary it follows',
    meaning: 'The records name the primary that the shard follows when it starts',
  },
  'record-wish': { label: 'Record which primary it follows', meaning: 'The former name of `record-follows`' },
  meet: { label: 'Introduce the shards', meaning: 'The shards of the cluster learn of each other' },
  'assign-slots': { label: 'Assign slots', meaning: 'The shard gets the slots of its group' },
  'forget-node': {
    label: 'Forget a former shard',
    meaning: 'The shards of the cluster forget one that is gone',
  },
} as const satisfies Readonly<Record<StepName, Words>>
