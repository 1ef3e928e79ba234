import {
  actionKinds,
  actionOutcomes,
  actionPhases,
  orderWords,
  shardDuties,
  stepWords,
  waitsOn,
} from '@fairlead/api'

type Table = Readonly<Record<string, { readonly label: string; readonly meaning: string }>>

/** docs/reference/actions.md: the words for what an action is, does and waits for, from the tables that the programs use. */
export function printActions(): string {
  return `${[...head, ...words].join('\n')}\n`
}

const head = [
  '<!-- Printed by `npm run docs` from packages/api/src/contract/action-words.ts and tools/print-actions.ts. Do not edit. -->',
  '# Actions',
  '',
  'A creation, an upgrade and a deletion are each an action: `GET /v1/actions/{uid}`. The fields of the wider API (`status`, `progress`, `pending_ops`, …) stay as they',
  'are. Beside them an action says where it is (`phase`), how it ended (`outcome`), from where to where (`from`, `goal`), what was asked for and by which user (`request`,',
  '`requested_by`), when (`creation_time`, `began_time`, `ended_time`, `window_ends`), what it waits for (`waiting`), what each order would do (`orders`), and what happens',
  'in each group (`lanes`).',
  '',
  '`progress` counts steps. It never falls, and it is 100 when the action has ended, whatever the outcome. It and `pending_ops` come from the whole plan, which is computed for people only: they may be half a second',
  'behind. Everything else is there at once.',
  '',
  'A code keeps its meaning, and later versions may have more of them. A label and a sentence may change with any version.',
]

const words = [
  ...section('Kinds', 'In `name`.', 'name', actionKinds),
  ...section('Phases', 'Exactly one at any time, in `phase`.', 'phase', actionPhases),
  ...section(
    'How it ended',
    'In `outcome`, once the phase is `ended`. A user that took an upgrade back gets what was ordered; only `failed` was not ordered.',
    'outcome',
    actionOutcomes,
  ),
  ...section(
    'What it waits for',
    '`waiting` is null while anything is being done in any group. Otherwise it says on what (`on`), which shard if it is one, since when, until when at the latest if that is known, and `why`. `hold_reason` in it is one of [these](hold-reasons.md).',
    'on',
    waitsOn,
  ),
  ...section(
    'Orders',
    'Each of `orders` says whether this user may give it just now (`ok`), otherwise `error_code` and `why`; what then happens (`consequence`), the phase right after it (`leads_to`), and how the action would end if nothing fails and no other order comes (`outcome`; null: not by itself). The answer to an order is the action with the order on record: its phase has changed already.',
    'order',
    orderWords,
  ),
  '',
  '## Lanes',
  '',
  'One for each group: its `state` (`running`, `waiting`, `stuck`, `done`), what it waits for, and its `steps`: those done, the one that runs, and those to come, each with the number and the role of its',
  'shard. `sync` is the full sync that a shard receives, in bytes; `total` is null where the engine does not know it, and for engines before redis 7.0 there is no `sync`. `lag_bytes` is how far the furthest',
  'follower is behind. Both are looked at every one to five seconds. Lists of actions leave lanes out. In the stream of an action, events of type `lanes` have what changed: apply them in order.',
  '',
  'A step that is `left` was not finished, because something else had to be done first; one that is `failed`, or what came of it, showed that the upgrade cannot succeed. Steps to come are a forecast: shards that are not there yet are `new-1`, `new-2`, … in each group.',
  ...section('Steps', '`op_name` of a step.', 'op_name', stepWords),
  ...section(
    'Roles of shards',
    '`role` of a step: what the shard was to its group when the step began.',
    'role',
    shardDuties,
  ),
]

function section(title: string, text: string, code: string, table: Table): readonly string[] {
  const rows = Object.entries(table).map(
    ([one, { label, meaning }]) => `| \`${one}\` | ${label} | ${meaning} |`,
  )
  return ['', `## ${title}`, '', text, '', `| ${code} | label | meaning |`, '|---|---|---|', ...rows]
}
