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

/** docs/reference/actions.md: the words for actions, from the tables that the programs use. */
export function printActions(): string {
  return `${[...head, ...words].join('\n')}\n`
}

const head = [
  '<!-- Printed by `npm run docs` from packages/api/src/contract/action-words.ts and tools/print-actions.ts. Do not edit. -->',
  '# Actions',
  '',
  'A creation, an upgrade and a deletion are each an action: `GET /v1/actions/{uid}`. Besides the fields of the wider API (`status`, `progress`, `pending_ops`, …) an action has these:',
  '',
  '- `phase`, `outcome`: its present state, and its result;',
  '- `from`, `goal`: the builds; `request`, `requested_by`: the request and its user;',
  '- `creation_time`, `began_time`, `ended_time`, `window_ends`;',
  '- `waiting`: the reason of a wait; `orders`: the effect of each order; `lanes`: the progress of each group.',
  '',
  '`progress` counts steps. It never falls, and it is 100 when the action has ended. It and `pending_ops` come from the whole plan and may be half a second behind; everything else is immediate.',
  '',
  'A code keeps its meaning, and later versions may have more. Labels and sentences may change with any version.',
]

const words = [
  ...section('Kinds', 'In `name`.', 'name', actionKinds),
  ...section('Phases', 'Exactly one at any time, in `phase`.', 'phase', actionPhases),
  ...section(
    'Outcomes',
    'In `outcome`, once the phase is `ended`. Only `failed` was not ordered by a user.',
    'outcome',
    actionOutcomes,
  ),
  ...section(
    'Waits',
    '`waiting` is null while any group works. Otherwise it has the kind of wait (`on`), the shard if it is one, the time since and until when at the latest, if known, and `why`. Its `hold_reason` is one of [these](hold-reasons.md).',
    'on',
    waitsOn,
  ),
  ...section(
    'Orders',
    'Each of `orders` has `ok` if this user may give it now, otherwise `error_code` and `why`; also the effect (`consequence`), the phase right after it (`leads_to`), and the outcome if nothing fails and no other order comes (`outcome`; null: none without another order). The answer to an order is the action with the order on record and its new phase.',
    'order',
    orderWords,
  ),
  '',
  '## Lanes',
  '',
  'One for each group, with its `state` (`running`, `waiting`, `stuck`, `done`), the reason of its wait, and its `steps`: done, running and to come, each with the number and the role of its shard.',
  '',
  '- `sync`: the full sync that a shard receives, in bytes. `total` is null if the engine does not know it; engines before redis 7.0 have no `sync`. `lag_bytes`: the lag of the slowest follower. Both are read every one to five seconds.',
  '- Lists of actions leave lanes out. In the stream of an action, events of type `lanes` have the changes: apply them in order.',
  '- A step that is `left` was not finished, because something else had to be done first. A `failed` step, or its result, showed that the upgrade cannot succeed.',
  '- Steps to come are a forecast: shards that do not exist yet are `new-1`, `new-2`, … in each group.',
  ...section('Steps', '`op_name` of a step.', 'op_name', stepWords),
  ...section(
    'Roles of shards',
    '`role` of a step: the role of the shard in its group when the step began.',
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
