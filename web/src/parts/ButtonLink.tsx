import { Button, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'

type Props = Omit<ButtonProps, 'vars'> & AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement> }

/** ButtonLink is a link of this site that looks like a button. */
export const ButtonLink = createLink(function Anchor(props: Props) {
  return <Button component="a" {...props} />
})
