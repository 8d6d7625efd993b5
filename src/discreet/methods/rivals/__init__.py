"""The systems that MSA-diversity is compared with (Abdalaal, 2012, chapter 3).

- ``li_ye``: Li and Ye; section 3.3.
- ``gal``: Gal, Chen and Gangopadhyay, 2008; section 3.4.
- ``mmdcf``: Yang Xiao-chun et al., 2008; section 3.5.
"""
