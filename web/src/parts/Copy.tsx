import { Button, CopyButton } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'

export function Copy({ text, label = 'Copy', what, quiet }: { text: string; label?: string; what: string; quiet?: boolean }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button
          variant={quiet ? 'subtle' : 'default'}
          color={quiet ? 'accent' : undefined}
          onClick={copy}
          aria-label={copied ? 'Copied' : `${label}${label === 'Copy' ? ' ' : ', '}${what}`}
          leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
        >
          {copied ? 'Copied' : label}
        </Button>
      )}
    </CopyButton>
  )
}
