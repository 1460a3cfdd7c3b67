import type { Command } from 'commander';

/** A command as a shell completes it. */
interface Node {
  readonly path: string;
  readonly words: readonly string[];
  readonly flags: readonly string[];
}

const flagsOf = (command: Command): readonly string[] =>
  command.options.flatMap(({ long, short }) => [long ?? [], short ?? []].flat());

const nodesOf = (command: Command, path: string, shared: readonly string[]): readonly Node[] => {
  const children = command.commands;
  const own: Node = {
    path,
    words: children.flatMap((child) => [child.name(), ...child.aliases()]),
    flags: [...new Set([...flagsOf(command), ...shared, '--help'])],
  };
  return [
    own,
    ...children.flatMap((child) =>
      nodesOf(child, path === '' ? child.name() : `${path} ${child.name()}`, shared),
    ),
  ];
};

const bash = (nodes: readonly Node[]): string => `# stemma completion bash >> ~/.bashrc
_stemma() {
  local word="\${COMP_WORDS[COMP_CWORD]}" path="" part
  for part in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$part" in -*) ;; *) path="\${path:+$path }$part" ;; esac
  done
  local words="" flags=""
  while :; do
    case "$path" in
${nodes
  .map(
    ({ path, words, flags }) =>
      `      "${path}") words="${words.join(' ')}"; flags="${flags.join(' ')}"; break ;;`,
  )
  .join('\n')}
      *" "*) path="\${path% *}" ;;
      *) path="" ;;
    esac
  done
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word")) ;;
  esac
}
complete -F _stemma stemma
`;

const zsh = (nodes: readonly Node[]): string => `#compdef stemma
# stemma completion zsh > "\${fpath[1]}/_stemma"
_stemma() {
  local path="" part
  for part in "\${words[@]:1:CURRENT-2}"; do
    case "$part" in -*) ;; *) path="\${path:+$path }$part" ;; esac
  done
  local -a found flags
  while :; do
    case "$path" in
${nodes
  .map(
    ({ path, words, flags }) =>
      `      "${path}") found=(${words.join(' ')}); flags=(${flags.join(' ')}); break ;;`,
  )
  .join('\n')}
      *" "*) path="\${path% *}" ;;
      *) path="" ;;
    esac
  done
  if [[ "$PREFIX" == -* ]]; then compadd -- $flags; else compadd -- $found; _files; fi
}
if [ "$funcstack[1]" = "_stemma" ]; then _stemma "$@"; else compdef _stemma stemma; fi
`;

const fish = (nodes: readonly Node[]): string =>
  [
    '# stemma completion fish > ~/.config/fish/completions/stemma.fish',
    ...nodes.flatMap(({ path, words, flags }) => {
      const parts = path === '' ? [] : path.split(' ');
      const seen = parts.map((part) => `__fish_seen_subcommand_from ${part}`).join('; and ');
      const condition = parts.length === 0 ? '__fish_use_subcommand' : seen;
      return [
        ...words.map((word) => `complete -c stemma -n '${condition}' -a '${word}'`),
        ...flags
          .filter((flag) => flag.startsWith('--'))
          .map((flag) =>
            parts.length === 0
              ? `complete -c stemma -l '${flag.slice(2)}'`
              : `complete -c stemma -n '${condition}' -l '${flag.slice(2)}'`,
          ),
      ];
    }),
    '',
  ].join('\n');

export const shells = ['bash', 'zsh', 'fish'] as const;

/** A script that completes commands and flags; file names are left to the shell. */
export const completionFor = (shell: (typeof shells)[number], program: Command): string => {
  const nodes = nodesOf(program, '', flagsOf(program));
  if (shell === 'bash') return bash(nodes);
  return shell === 'zsh' ? zsh(nodes) : fish(nodes);
};
